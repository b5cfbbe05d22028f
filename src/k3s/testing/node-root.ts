// Makes a root for the program on a node, with stand-ins for systemd and K3s, so that the real text runs under sh.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { NODE_PROGRAM_TEXT } from '../programs.ts'

export interface NodeRoot {
  readonly directory: string
  /** Runs a verb under sh; answers what it printed, as JSON. */
  ask(words: readonly string[], input?: string): Promise<Record<string, unknown>>
  write(file: string, content: string, mode?: number): void
  read(file: string): string
  has(file: string): boolean
  /** The calls of the stand-ins, one per line. */
  calls(): string
  remove(): void
}

/** systemctl answers from files below /units: `show` prints what a test has put there. */
const SYSTEMCTL = `#!/bin/sh
echo "systemctl $*" >>"$CROFT_ROOT/calls"
case $1 in
  show)
    unit=$2
    case " $* " in *' --value '*) grep '^ActiveState=' "$CROFT_ROOT/units/$unit" 2>/dev/null | cut -d= -f2; exit 0 ;; esac
    cat "$CROFT_ROOT/units/$unit" 2>/dev/null || echo LoadState=not-found ;;
esac
exit 0
`
/**
 * Runs the job at once, so that it is over when the answer comes. A unit stays loaded for as long as systemd likes, and a
 * second one of its name is refused.
 */
const SYSTEMD_RUN = `#!/bin/sh
echo "systemd-run $*" >>"$CROFT_ROOT/calls"
for word; do
  case $word in
    --unit=*)
      unit=\${word#--unit=}
      if grep -qx "$unit" "$CROFT_ROOT/loaded" 2>/dev/null; then
        echo "Failed to start transient service unit: Unit $unit.service was already loaded or has a fragment file." >&2
        exit 1
      fi
      echo "$unit" >>"$CROFT_ROOT/loaded" ;;
  esac
done
while [ "$1" != -- ]; do shift; done
shift
sh "$@" >>"$CROFT_ROOT/job-output" 2>&1
exit 0
`
const LOGGED = (name: string, more = '') => `#!/bin/sh
echo "${name} $*" >>"$CROFT_ROOT/calls"
${more}
`

/** Uptime of the node, in hundredths of a second. */
export const UP_TICKS = 100_050

/** A line of /proc/PID/stat; `ticks`: when it began. */
export function processStat(pid: number, parent: number, ticks: number): string {
  return `${pid} (a) b) S ${parent} ${pid} ${pid} 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 ${ticks} 0 0\n`
}

/** `shell`: runs the program in place of sh. Of busybox its tools come before those of this computer. */
export function nodeRoot(shell = 'sh'): NodeRoot {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-node-'))
  const at = (file: string) => path.join(directory, file)
  const write = (file: string, content: string, mode = 0o644) => {
    mkdirSync(path.dirname(at(file)), { recursive: true })
    rmSync(at(file), { force: true })
    writeFileSync(at(file), content)
    chmodSync(at(file), mode)
  }
  const program = '/usr/local/lib/croft/node'
  write(program, NODE_PROGRAM_TEXT, 0o755)
  mkdirSync(at('/test-bin'))
  if (shell.endsWith('busybox'))
    for (const name of spawnSync(shell, ['--list'], { encoding: 'utf8' }).stdout.trim().split('\n'))
      symlinkSync(shell, at(`/test-bin/${name}`))
  write('/test-bin/systemctl', SYSTEMCTL, 0o755)
  write('/test-bin/systemd-run', SYSTEMD_RUN, 0o755)
  for (const name of ['ip', 'umount', 'iptables-save', 'ip6tables-save', 'iptables-restore', 'ip6tables-restore'])
    write(`/test-bin/${name}`, LOGGED(name), 0o755)
  write('/test-bin/journalctl', LOGGED('journalctl', 'cat "$CROFT_ROOT/journal" 2>/dev/null'), 0o755)
  write('/etc/machine-id', '0123456789abcdef0123456789abcdef\n')
  write('/proc/sys/kernel/hostname', 's1\n')
  write('/proc/sys/kernel/random/boot_id', '11111111-2222-3333-4444-555555555555\n')
  write('/proc/self/stat', processStat(9, 1, UP_TICKS))
  write('/proc/self/mounts', '')

  return {
    directory,
    write,
    read: (file) => readFileSync(at(file), 'utf8'),
    has: (file) => existsSync(at(file)),
    calls: () => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8') : ''),
    remove: () => rmSync(directory, { recursive: true, force: true }),
    async ask(words, input) {
      const { stdout, stderr } = await run(shell, at(program), words, input ?? '', directory)
      const lines = stdout.trim().split('\n')
      if (lines.length !== 1) throw new Error(`more than one line: ${stdout} ${stderr}`)
      return JSON.parse(lines[0] ?? '') as Record<string, unknown>
    },
  }
}

function run(
  shell: string,
  program: string,
  words: readonly string[],
  input: string,
  root: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const before = shell.endsWith('busybox') ? ['sh'] : []
    const child = spawn(shell, [...before, program, ...words], { env: { CROFT_ROOT: root, PATH: process.env.PATH } })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', () => resolve({ stdout, stderr }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
