// guardctl speaks to a Unix socket and resolves no names, but gRPC's resolvers come with it. In a
// static executable glibc's own would load NSS modules of whatever glibc runs there, so these
// stand in their place and find nothing. The linker takes an executable's own objects first.
#include <netdb.h>

extern "C" {

int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) { return EAI_NONAME; }

void freeaddrinfo(addrinfo*) noexcept {}

servent* getservbyname(const char*, const char*) { return nullptr; }

int getservbyport_r(int, const char*, servent*, char*, size_t, servent** found) {
  *found = nullptr;
  return 0;
}

}  // extern "C"
