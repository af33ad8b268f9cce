"""Kernels of other Debian releases, for download only.

The machine's own package sources are copied, with the release changed, into an apt configuration
of ours below `folder`; the machine's own stays as it is. What was fetched once is used again and
needs no network.
"""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

SOURCES = pathlib.Path("/etc/apt")


class Lacking(Exception):
    """What is not there and keeps the tests from running; a clause for a human."""


def _codename():
    text = pathlib.Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)", text, re.M)
    if not found:
        raise Lacking("not a Debian release: /etc/os-release names no VERSION_CODENAME")
    return found[1]


def _changed(text, ours, release):
    """A source list with `ours` changed to `release`; other distributions' parts fall out. A
    release of backports has neither updates nor a security suite of its own."""
    part = release.partition("-")[2]
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        kept = [line for line in stanza.splitlines() if not line.startswith("#")]
        suites = re.compile(rf"\b{ours}(-security|-updates|-backports)?(?=[\s/]|$)")
        if not suites.search("\n".join(kept)):
            continue
        security = f"{ours}-security" in stanza or f"{ours}/updates" in stanza
        if security and part:
            continue
        suite = f"{release}-security" if security else release
        stanzas.append("\n".join(
            f"Suites: {suite}" if line.lower().startswith("suites:") else
            re.sub(suites, suite, line) if line.startswith("deb ") else line for line in kept))
    return "\n\n".join(stanzas) + "\n"


def _configuration(folder, release):
    """An apt configuration that knows `release` alone and no installed package."""
    home = folder / f"apt-{release}"
    parts = home / "sources"
    for each in (parts, home / "state/lists/partial", home / "cache/archives/partial"):
        each.mkdir(parents=True, exist_ok=True)
    ours = _codename()
    lists = [*SOURCES.glob("sources.list.d/*.sources"), *SOURCES.glob("sources.list.d/*.list"),
             *SOURCES.glob("sources.list")]
    written = 0
    for source in lists:
        text = _changed(source.read_text(), ours, release)
        if text.strip():
            (parts / source.name).write_text(text)
            written += 1
    if not written:
        raise Lacking(f"no package source of this machine names its own release {ours}")
    (home / "status").touch()
    configuration = home / "apt.conf"
    configuration.write_text(f"""\
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{parts}";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{home}/state";
Dir::State::status "{home}/status";
Dir::Cache "{home}/cache";
APT::Sandbox::User "";
Acquire::Retries "3";
""")
    return {**os.environ, "APT_CONFIG": str(configuration), "LC_ALL": "C"}


def _apt(what, argv, **how):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)
    if done.returncode != 0:
        raise Lacking(f"{what}: {' '.join(argv)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


# What a guest needs to put its files on a file system that has attributes and flags, as tmpfs of old
# has not; in the order of loading. What a kernel has built in is not in its package.
MODULES = ("crc16", "crc32c_generic", "mbcache", "jbd2", "ext4", "loop")


def _unpack(deb, folder):
    """The kernel, its configuration and MODULES out of the package, into `folder`."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as unpacking:
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            for member in archive:
                name = pathlib.PurePath(member.name).name
                module, dot_ko, packing = name.partition(".ko")
                if not member.isfile():
                    continue
                if name.startswith(("vmlinuz-", "config-")) or (dot_ko and module in MODULES):
                    data = archive.extractfile(member).read()
                    if packing == ".xz":
                        data, name = lzma.decompress(data), module + dot_ko
                    (folder / name).write_bytes(data)
    if unpacking.returncode != 0:
        raise Lacking(f"{deb} cannot be unpacked")


def kernel(folder, release, newest=False):
    """The paths of vmlinuz, of its config and of MODULES, from `release`'s linux-image-amd64; with
    `newest` what is there is asked for again."""
    unpacked = folder / f"kernel-{release}"
    if newest or not (unpacked / "complete").exists():
        env = _configuration(folder, release)
        what = f"the kernel of {release}"
        _apt(what, ["apt-get", "update"], env=env)
        said = _apt(what, ["apt-cache", "depends", "linux-image-amd64"], env=env)
        package = re.search(r"Depends: (linux-image-\d\S+)", said)
        if not package:
            raise Lacking(f"{what}: its linux-image-amd64 names no kernel: {said}")
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir()
        _apt(what, ["apt-get", "download", package[1]], env=env, cwd=unpacked)
        deb = next(unpacked.glob("*.deb"))
        _unpack(deb, unpacked)
        deb.unlink()
        (unpacked / "complete").touch()
    modules = [unpacked / f"{name}.ko" for name in MODULES]
    return (next(unpacked.glob("vmlinuz-*")), next(unpacked.glob("config-*")),
            [module for module in modules if module.exists()])
