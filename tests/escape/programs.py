"""Ordinary programs that must work in a sandbox as they do without one.

Each is a shell script that starts in an empty, writable folder, with {ro} to read. What it prints must
be the same each time and everywhere, and it has to exit with 0.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    script: str
    tools: tuple = ()     # what has to be installed
    broken: str = ""      # why it does not work yet; asserted too


PROGRAMS = []


def program(name, script, *tools, broken=""):
    PROGRAMS.append(Program(name, script.strip(), tools, broken))


# --- shells -------------------------------------------------------------------------------------

program("bash_here_document", """
cat <<END
here $((1 + 1))
END
read -r line <<<"a here string"; echo "$line"
diff <(printf 'a\\nb\\n') <(printf 'a\\nb\\n') && echo same
""")
program("bash_redirections", """
echo lost >/dev/null 2>&1
head -c 8 /dev/zero | wc -c
head -c 16 /dev/urandom | wc -c
echo full 2>/dev/null >/dev/full || echo "no room"
exec 3>file; echo three >&3; exec 3>&-; cat file; cat </dev/null
echo again >>file; wc -l <file
""")
program("bash_background_jobs", """
sleep 0.01 & wait $!; echo "waited $?"
(exit 3) & wait $! || echo "status $?"
sleep 30 & kill $!; wait $! 2>/dev/null || echo "killed $?"
trap 'echo bye' EXIT
for turn in 1 2 3; do true & done; wait; echo all
""")
program("bash_standard_paths", """
echo in | cat /dev/stdin
echo out >/dev/stdout
echo in | cat /dev/fd/0
echo err >/dev/stderr
""")
program("dash_pipeline", """
/bin/dash -c 'seq 1 1000 | sort -rn | head -3 | tr "\\n" " "; echo; test -r /usr/bin/env && echo readable'
ulimit -n >/dev/null && umask 022 && umask
""")
program("links_and_renames", """
mkdir -p a/b c && echo x >a/b/file
ln a/b/file c/hard && ln -s ../a/b/file c/soft && cat c/hard c/soft
mv a/b/file c/moved && mv a/b c/b && ls c
python3 -c "import os; os.mkdir('d'); os.rename('c/moved', 'd/renamed'); os.link('d/renamed', 'c/again')"
cat c/again && rm -r a c d && mkfifo pipe && (echo through >pipe & cat pipe)
""")
program("permissions_and_times", """
touch -d 2001-02-03T04:05:06Z file && chmod 640 file && TZ=UTC stat -c '%a %y' file
install -m 755 /bin/true copy && ./copy && stat -c %a copy
cp -a file kept && TZ=UTC stat -c %y kept && chown "$(id -u):$(id -g)" file && echo owned
""")

# --- text and files -----------------------------------------------------------------------------

program("text_tools", """
printf 'one\\ntwo\\nthree\\n' >file
sed -i s/two/2/ file && cat file
awk '{{ n += length($0) }} END {{ print n }}' file
grep -rn 2 . ; find . -type f -exec wc -l {{}} +
seq 1 20000 | sort -R | sort -n --buffer-size=100K | tail -1
printf 'a b c' | xargs -n1 -P3 echo | sort
""")
program("tar_and_gzip", """
mkdir d && echo x >d/f && chmod 600 d/f && touch -d 2001-02-03Z d/f
tar czf t.tgz d && rm -r d && tar xzf t.tgz && TZ=UTC stat -c '%a %y' d/f
gzip -k d/f && zcat d/f.gz && cp -a d e && diff -r d e && echo equal
""", "gzip")
program("read_grant", """
cat {ro}/data && {ro}/program && ls {ro} | grep -c data
""")
program("locale_and_date", """
TZ=America/New_York date -d @0 '+%F %T %Z'
LC_ALL=C.UTF-8 date -d @0 -u +%c && locale -a | grep -c C.utf8
id -un >/dev/null && getent passwd root | cut -d: -f1 && getent hosts localhost >/dev/null && uname -s
nproc >/dev/null && free >/dev/null && df . >/dev/null && cat /proc/cpuinfo /proc/meminfo >/dev/null && echo facts
""")

# --- languages ----------------------------------------------------------------------------------

program("python_threads", """
python3 -c "
import threading, queue
q = queue.Queue()
threads = [threading.Thread(target=lambda n=n: q.put(n * n)) for n in range(20)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum(q.get() for _ in threads))"
""")
program("python_subprocess", """
python3 -c "
import asyncio, subprocess, tempfile
print(subprocess.run(['sh', '-c', 'cat; exit 5'], input=b'piped', capture_output=True))
async def main():
    p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    print(await p.communicate(b'async'))
    print(await asyncio.get_running_loop().run_in_executor(None, lambda: 'executed'))
asyncio.run(main())
with tempfile.TemporaryDirectory() as d: print(subprocess.check_output(['ls', '-a', d]))"
""")
program("python_process_pool", """
python3 -c "
import concurrent.futures, multiprocessing
with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, -2, 3])))
with multiprocessing.Pool(2) as pool: print(pool.map(len, ['a', 'bb']))"
""")
program("python_files", """
python3 -c "
import os, shutil, fcntl, mmap
open('f', 'w').write('x' * 5000)
with open('f', 'r+b') as f:
    fcntl.flock(f, fcntl.LOCK_EX); m = mmap.mmap(f.fileno(), 0); m[0] = 65; m.flush(); m.close(); os.ftruncate(f.fileno(), 9)
print(open('f').read()); os.replace('f', 'g'); shutil.copy2('g', 'h'); os.utime('h'); print(sorted(os.listdir()))
import socket; a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(9))
print(os.path.realpath('/proc/self/cwd') != '', os.cpu_count() > 0, len(os.urandom(5)))"
""")
program("python_venv", """
python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
""")
program("python_http_on_granted_port", """
python3 -c "
import socket, threading
s = socket.create_server(('127.0.0.1', {bindable}))
threading.Thread(target=lambda: s.accept()[0].sendall(b'served'), daemon=True).start()
print(socket.create_connection(('127.0.0.1', {bindable})).recv(9))"
""")
program("curl_to_granted_port", """
curl -sS --noproxy '*' http://127.0.0.1:{granted_tcp}/
""", "curl")
program("node_child_processes", """
node -e "
const {{ spawnSync, execSync, spawn }} = require('child_process');
const s = spawnSync('echo', ['sync']); console.log(String(s.stdout).trim(), s.status, s.error);
console.log(String(execSync('cat', {{ input: 'piped' }})));
const p = spawn('sh', ['-c', 'exit 4']); p.on('close', c => console.log('closed', c));
new (require('worker_threads').Worker)('require(\\"worker_threads\\").parentPort.postMessage(\\"worked\\")', {{ eval: true }}).on('message', m => setTimeout(() => console.log(m), 50));
require('fs').writeFileSync('f', 'x'); console.log(require('fs').readFileSync('f', 'utf8'), require('crypto').randomBytes(4).length)"
""", "node")
program("perl_basics", """
perl -MFile::Temp=tempfile -e 'my ($fh, $name) = tempfile(); print $fh "x"; close $fh; print -s $name, "\\n"; my $p = fork; if (!$p) {{ exit 7 }} waitpid $p, 0; print $? >> 8, "\\n"; print `echo sub`; socketpair(A, B, 1, 1, 0) or die; print "pair\\n"'
""", "perl")

# --- building -----------------------------------------------------------------------------------

C_PROGRAM = """printf '#include <stdio.h>\\nint answer(void);\\nint main(void) {{ printf("%%d\\\\n", answer()); return 0; }}\\n' >main.c
printf 'int answer(void) {{ return 42; }}\\n' >answer.c
"""
program("cc_compile_and_link", C_PROGRAM + """
cc -O1 -g -c main.c answer.c && ar rcs libanswer.a answer.o && cc -o static main.o libanswer.a && ./static
cc -shared -fPIC -o libanswer.so answer.c && cc -o shared main.c -L. -lanswer -Wl,-rpath,. && ./shared
""", "cc")
program("make_in_parallel", C_PROGRAM + """
printf 'prog: main.o answer.o\\n\\t@cc -o $@ $^\\n%%.o: %%.c\\n\\t@cc -c $<\\n' >Makefile
make -s -j2 && ./prog && make -s prog && touch main.c && make -q || echo stale
""", "make", "cc")

# --- tools --------------------------------------------------------------------------------------

GIT = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
program("git_commit_and_branch", GIT + """
git init -q -b main && echo x >f && git add f && git commit -q -m first
git checkout -q -b side && echo y >>f && git commit -q -a -m second && git checkout -q main
git merge -q side && git log --format=%s && git gc -q && git fsck && git status --short
""", "git")
program("git_clone", GIT + """
git init -q -b main a && git -C a commit -q --allow-empty -m first
git clone -q a b && git -C b log --format=%s && git clone -q --no-hardlinks "file://$PWD/a" c && git -C c status -s && ls
""", "git")
program("sqlite_wal", """
sqlite3 db 'pragma journal_mode=wal; create table t(x); insert into t values(1),(2); select sum(x) from t;'
sqlite3 db 'update t set x = x + 1; select sum(x) from t; vacuum;' && ls db
""", "sqlite3")
program("ssh_keygen", """
ssh-keygen -q -t ed25519 -N '' -C me -f key && stat -c %a key && cut -d' ' -f1,3 key.pub
""", "ssh-keygen")
program("openssl_digest", "printf abc | openssl dgst -sha256 && openssl rand 8 | wc -c", "openssl")
