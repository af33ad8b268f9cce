// Taking every capability off the calling thread, for good. Raw system calls only (enforce.h).
#pragma once

namespace guard::sandbox {

// 0 or a positive errno. Root's run loses what makes root more than the owner of root's files; an
// ordinary user's loses nothing but ambient ones. Where the caller may (CAP_SETPCAP), the bounding
// set is emptied and the securebits are locked so that exec as uid 0 gives nothing back; where it
// may not, PR_SET_NO_NEW_PRIVS, which follows, has the same effect (capabilities(7)).
int drop_capabilities() noexcept;

// Neither effective nor permitted nor inheritable.
bool has_no_capabilities() noexcept;

}  // namespace guard::sandbox
