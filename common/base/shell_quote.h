// Words for a shell: what is printed can be pasted.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace guard {

// One word that the shell reads back as the same bytes. Bare when nothing in it is special, else in
// single quotes; with control characters, bidirectional controls or bytes that are not UTF-8 as
// $'...' (POSIX.1-2024; bash, zsh, ksh), so that the result is always safe to show.
std::string shell_quote(std::string_view word);

// The words of a command line with a blank between.
std::string shell_join(std::span<const std::string> words);

}  // namespace guard
