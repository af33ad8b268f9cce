/* Of xenarch-guard in a build with AddressSanitizer: its leak check traces the process at its end,
   which the process' own sandbox refuses, and then exits with a code of its own. */
const char* __asan_default_options(void) { return "detect_leaks=0"; }
