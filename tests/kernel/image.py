"""A guest's root as initial RAM file systems: files of this machine's packages, and what we built.

Neither root nor the network is needed to make one, and the kernel no module to read it.
"""
import glob
import os
import pathlib
import re
import stat
import subprocess

# What the tests run, and what those need; perl is git's and none of ours calls it.
PACKAGES = ("base-files bash coreutils dash diffutils e2fsprogs findutils git grep libc-bin mawk mount procps "
            "protobuf-compiler python3 python3-grpcio python3-protobuf sed util-linux").split()
PRUNED = {"perl", "perl-base", "perl-modules-5.36", "libperl5.36", "debconf", "dpkg", "usrmerge"}
LEFT_OUT = re.compile(r"/usr/share/(doc|man|info|locale|lintian|bug|bash-completion|zsh|perl5|gitweb)/"
                      r"|/usr/share/doc-base|/usr/lib/python3.*/__pycache__/")

USER, UID = "guardtest", 1000
_ETC = {
    "passwd": f"root:x:0:0::/root:/bin/sh\n{USER}:x:{UID}:{UID}::/home/{USER}:/bin/sh\n"
              "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
    "group": f"root:x:0:\n{USER}:x:{UID}:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


class Cpio:
    """Writes the format that the kernel unpacks ("newc"), with owners and modes of our choice."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self._inode = 0
        self._names = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._entry("TRAILER!!!", 0, b"")
        self._file.close()

    def _entry(self, name, mode, data, owner=0, device=(0, 0)):
        self._inode += 1
        encoded = os.fsencode(name) + b"\0"
        fields = (self._inode, mode, owner, owner, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self._file.write(header + bytes(-len(header) % 4) + data + bytes(-len(data) % 4))

    def _parents(self, name):
        parent = os.path.dirname(name)
        if parent and parent not in self._names:
            self.folder(parent)

    def folder(self, name, mode=0o755, owner=0):
        name = name.lstrip("/")
        if name not in self._names:
            self._parents(name)
            self._names.add(name)
            self._entry(name, stat.S_IFDIR | mode, b"", owner)

    def file(self, name, data, mode=0o644):
        self._new(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self._new(name, stat.S_IFLNK | 0o777, os.fsencode(target))

    def character_device(self, name, major, minor):
        self._new(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def _new(self, name, mode, data, device=(0, 0)):
        name = name.lstrip("/")
        if name not in self._names:
            self._parents(name)
            self._names.add(name)
            self._entry(name, mode, data, device=device)

    def copy(self, source, name):
        """A file or a symbolic link; a folder by itself. Nothing is set-user-ID in there, and
        everybody may read."""
        found = os.lstat(source)
        if stat.S_ISLNK(found.st_mode):
            self.link(name, os.readlink(source))
        elif stat.S_ISDIR(found.st_mode):
            self.folder(name)
        elif stat.S_ISREG(found.st_mode) and os.access(source, os.R_OK):
            executable = 0o111 if found.st_mode & 0o100 else 0
            self.file(name, pathlib.Path(source).read_bytes(), 0o644 | executable)


def _closure():
    """PACKAGES and all that they depend on, of what is installed."""
    shown = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Provides}\t"
                            "${Pre-Depends}, ${Depends}\n"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    needs, provider = {}, {}

    def names(field):
        return [re.sub(r"[\s(:].*", "", each.strip()) for each in re.split(r"[,|]", field)]

    for line in shown.splitlines():
        status, package, provides, depends = line.split("\t")
        if status.startswith("ii"):
            needs[package] = names(depends)
            provider.update((virtual, package) for virtual in names(provides))
    found, wave = set(), list(PACKAGES)
    while wave:
        package = wave.pop()
        package = package if package in needs else provider.get(package)
        if package and package not in found and package not in PRUNED:
            found.add(package)
            wave += needs[package]
    return sorted(found)


def _real(path):
    """Where the file lies: packages still name /bin/x what lies in /usr/bin/x."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def write_system(path):
    """The part that does not change with what we build."""
    packages = _closure()
    listed = subprocess.run(["dpkg-query", "-L", *packages], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    with Cpio(path) as cpio:
        for name in ("bin", "sbin", "lib", "lib64"):
            if os.path.islink(f"/{name}"):
                cpio.copy(f"/{name}", name)
        for name, text in _ETC.items():
            cpio.file(f"etc/{name}", text.encode())
        for name in ("proc", "sys", "dev", "run", "root", "mnt", "opt", "srv", "var"):
            cpio.folder(name)
        for name in ("tmp", "var/tmp"):
            cpio.folder(name, 0o1777)
        cpio.folder("home")
        cpio.folder(f"home/{USER}", 0o700, UID)
        cpio.file(f"home/{USER}/.bash_history", b"what an agent must not read\n")
        cpio.character_device("dev/console", 5, 1)
        cpio.character_device("dev/null", 1, 3)
        files = sorted({_real(line) for line in listed.splitlines() if line.startswith("/")})
        files += ["/etc/ld.so.cache", *glob.glob("/etc/alternatives/*"),
                  *glob.glob("/usr/include/google/protobuf/*.proto")]
        for file in files:
            if os.path.lexists(file) and not LEFT_OUT.match(file) and not os.path.isdir(file):
                cpio.copy(file, file)


def _libraries(program):
    said = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout
    return re.findall(r"(/\S+\.so\S*)", said)


def _stripped(program, folder):
    """A copy without what only a debugger reads, made again when the program is newer."""
    copy = folder / program.name
    if not copy.exists() or copy.stat().st_mtime < program.stat().st_mtime:
        subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    return copy


def write_project(path, source, build, folder):
    """/guardd in the guest: the tests and what they read of the checkout, and what `build` holds,
    with the libraries that it links; and /init. `folder` keeps what was stripped."""
    with Cpio(path) as cpio:
        cpio.copy(source / "tests/kernel/init", "init")
        for part in ("tests", "proto", "docs"):
            for file in sorted((source / part).rglob("*")):
                if "__pycache__" not in file.parts and "corpus" not in file.parts:
                    cpio.copy(file, f"guardd/{file.relative_to(source)}")
        for part in ("bin", "unit", "probes"):
            (folder / part).mkdir(parents=True, exist_ok=True)
            for program in sorted((build / part).iterdir()):
                to = f"guardd/build/dev/{part}/{program.name}"
                if program.is_symlink():
                    cpio.copy(program, to)
                elif program.is_file() and os.access(program, os.X_OK):
                    cpio.copy(_stripped(program, folder / part), to)
                    for library in _libraries(program):
                        cpio.file(_real(library), pathlib.Path(library).read_bytes(), 0o755)
