// "did you mean …": the known word that is nearest to what was typed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace guard {

// Fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known`, or empty when none is near: more than a third of the word would have to
// change. The first one wins a tie. Words of more than 64 characters are near to nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace guard
