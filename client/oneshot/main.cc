#include <string>
#include <vector>

#include "client/oneshot/oneshot.h"

int main(int argc, char** argv, char** environment) {
  std::vector<std::string> variables;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return guard::client::oneshot(arguments, variables);
}
