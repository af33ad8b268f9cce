#include "common/sandbox/presets.h"

namespace guard::sandbox {
namespace {

constexpr Access kRead = Access::kRead;
constexpr Access kWrite = Access::kWrite;

// clang-format off
constexpr BasePath kSystemBase[] = {
    // Programs and libraries; /usr/local is below /usr.
    {"/usr", kRead, "programs, libraries, shared data"},
    {"/bin", kRead, "programs, where /usr is not merged"},
    {"/sbin", kRead, "programs, where /usr is not merged"},
    {"/lib", kRead, "libraries and the dynamic linker, where /usr is not merged"},
    {"/lib32", kRead, "libraries of 32-bit programs"},
    {"/lib64", kRead, "the dynamic linker of 64-bit programs"},
    {"/libx32", kRead, "libraries of x32 programs"},
    {"/opt", kRead, "add-on programs"},

    // The dynamic linker.
    {"/etc/ld.so.cache", kRead, "where libraries are"},
    {"/etc/ld.so.conf", kRead, "where libraries are, for ldconfig and compilers"},
    {"/etc/ld.so.conf.d", kRead, "parts of ld.so.conf"},
    {"/etc/ld.so.preload", kRead, "libraries that this machine loads into every program"},
    {"/etc/alternatives", kRead, "which program a generic name means"},

    // Names of users, hosts and services.
    {"/etc/passwd", kRead, "names of users; holds no password"},
    {"/etc/group", kRead, "names of groups"},
    {"/etc/nsswitch.conf", kRead, "where names are looked up"},
    {"/etc/hosts", kRead, "names of hosts"},
    {"/etc/host.conf", kRead, "how names of hosts are looked up"},
    {"/etc/hostname", kRead, "this host's name"},
    {"/etc/gai.conf", kRead, "order of a host's addresses"},
    {"/etc/resolv.conf", kRead, "name servers; its target when it is a link"},
    {"/etc/services", kRead, "names of ports"},
    {"/etc/protocols", kRead, "names of protocols"},
    {"/etc/networks", kRead, "names of networks"},
    {"/etc/rpc", kRead, "names of RPC programs"},

    // Time, language, terminal.
    {"/etc/localtime", kRead, "the time zone; its target when it is a link"},
    {"/etc/timezone", kRead, "the time zone's name"},
    {"/etc/adjtime", kRead, "whether the hardware clock is UTC"},
    {"/etc/locale.alias", kRead, "names of locales"},
    {"/etc/locale.conf", kRead, "the default locale"},
    {"/etc/default/locale", kRead, "the default locale, on Debian"},
    {"/etc/terminfo", kRead, "terminal descriptions"},
    {"/etc/inputrc", kRead, "line editing"},

    // What this system is.
    {"/etc/os-release", kRead, "the distribution"},
    {"/etc/lsb-release", kRead, "the distribution"},
    {"/etc/debian_version", kRead, "the distribution"},

    // Certificates; never /etc/ssl as a whole, which holds private keys.
    {"/etc/ssl/certs", kRead, "certificates of authorities"},
    {"/etc/ssl/cert.pem", kRead, "certificates of authorities, in one file"},
    {"/etc/ssl/openssl.cnf", kRead, "OpenSSL's configuration"},
    {"/etc/ca-certificates", kRead, "certificates of authorities"},
    {"/etc/ca-certificates.conf", kRead, "which authorities are trusted"},
    {"/etc/pki/tls/certs", kRead, "certificates of authorities, on Fedora"},
    {"/etc/pki/tls/cert.pem", kRead, "certificates of authorities, on Fedora"},
    {"/etc/pki/tls/openssl.cnf", kRead, "OpenSSL's configuration, on Fedora"},
    {"/etc/pki/ca-trust/extracted", kRead, "certificates of authorities, on Fedora"},
    {"/etc/crypto-policies", kRead, "which ciphers are allowed, on Fedora"},

    // Shells, interpreters and tools that stop when they may not read their own settings. Not
    // npmrc and pip.conf: those may hold tokens, and npm and pip go on without.
    {"/etc/profile", kRead, "settings of login shells"},
    {"/etc/profile.d", kRead, "settings of login shells"},
    {"/etc/bash.bashrc", kRead, "settings of bash"},
    {"/etc/bash_completion.d", kRead, "settings of bash"},
    {"/etc/zsh", kRead, "settings of zsh"},
    {"/etc/shells", kRead, "names of shells"},
    {"/etc/gitconfig", kRead, "settings of git, which stops when they are unreadable"},
    {"/etc/python3", kRead, "settings of Python"},
    {"/etc/python3.11", kRead, "site settings of Debian 12's Python"},
    {"/etc/perl", kRead, "settings of Perl"},
    {"/etc/java-17-openjdk", kRead, "settings of Debian 12's Java, which does not start without"},
    {"/etc/java-21-openjdk", kRead, "settings of Java"},
    {"/etc/ssh/ssh_config", kRead, "settings of the ssh client"},
    {"/etc/ssh/ssh_config.d", kRead, "settings of the ssh client"},
    {"/etc/ssh/ssh_known_hosts", kRead, "keys of hosts"},
    {"/etc/wgetrc", kRead, "settings of wget"},
    {"/etc/vim", kRead, "settings of vim"},
    {"/etc/nanorc", kRead, "settings of nano"},
    {"/etc/gdb", kRead, "settings of gdb"},
    {"/etc/fonts", kRead, "where fonts are"},
    {"/etc/mime.types", kRead, "types of files by name"},
    {"/etc/xattr.conf", kRead, "which attributes copying keeps"},
    {"/etc/magic", kRead, "types of files by content"},

    // Facts about the machine. Single files of /proc: a rule on /proc itself would open
    // /proc/<pid> of every process of the user.
    {"/proc/cpuinfo", kRead, "processors"},
    {"/proc/meminfo", kRead, "memory"},
    {"/proc/stat", kRead, "processor time"},
    {"/proc/loadavg", kRead, "load"},
    {"/proc/uptime", kRead, "time since boot"},
    {"/proc/version", kRead, "the kernel"},
    {"/proc/filesystems", kRead, "kinds of file systems"},
    {"/proc/cmdline", kRead, "the kernel's command line"},
    {"/proc/sys", kRead, "kernel settings, for reading"},
    {"/proc/cgroups", kRead, "kinds of control groups"},
    {"/proc/devices", kRead, "kinds of devices"},
    {"/proc/vmstat", kRead, "memory"},
    {"/proc/swaps", kRead, "swap"},
    {"/sys/devices/system/cpu", kRead, "how many processors there are"},

    // Device files, each by itself; a rule on a device file carries ioctl(2).
    {"/dev/null", kWrite, "to discard output"},
    {"/dev/zero", kWrite, "zeros"},
    {"/dev/full", kWrite, "a full disk, for tests"},
    {"/dev/random", kWrite, "random bytes"},
    {"/dev/urandom", kWrite, "random bytes"},
    {"/dev/tty", kWrite, "the controlling terminal"},
};
// clang-format on

}  // namespace

std::span<const BasePath> system_base() { return kSystemBase; }

std::vector<PathGrant> base_grants() {
  std::vector<PathGrant> grants;
  grants.reserve(std::size(kSystemBase));
  for (const BasePath& base : kSystemBase) {
    grants.push_back({std::string(base.path), base.access, true, Origin::kBase});
  }
  return grants;
}

}  // namespace guard::sandbox
