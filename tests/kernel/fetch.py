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
    """A source list in either format with `ours` changed to `release`; other distributions' parts
    fall out. A release of backports has no security suite."""
    changed = []
    suite_of_ours = re.compile(rf"(?<=\s){ours}((-|/)\w+)?(?=\s|$)")
    stanzas = [re.sub(r"^#.*\n?", "", stanza, flags=re.M) for stanza in re.split(r"\n\s*\n", text)]
    for entry in [each for stanza in stanzas
                  for each in ([stanza] if re.search("^Types:", stanza, re.M | re.I)
                               else re.findall("^deb .*", stanza, re.M))]:
        suites = [found[0] for found in suite_of_ours.finditer(entry)]
        security = [suite for suite in suites if suite.endswith(("-security", "/updates"))]
        if not suites or (security and "-" in release) or (not security and ours not in suites):
            continue
        suite = f"{release}-security" if security else release
        changed.append(re.sub(r"^Suites:.*", f"Suites: {suite}", entry, flags=re.M | re.I)
                       if "\n" in entry else suite_of_ours.sub(suite, entry))
    return changed


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
        changed = _changed(source.read_text(), ours, release)
        between = "\n\n" if source.suffix == ".sources" else "\n"
        (parts / source.name).write_text(between.join(changed) + "\n")
        written += len(changed)
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
APT::Update::Error-Mode "any";
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
