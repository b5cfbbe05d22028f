import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMPILED } from '../compiled.ts'
import { commandsOf, type Printed } from './printed.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What is special about one command of a page. A command without a step must end with 0. */
export interface Step {
  /** What the page takes for granted here, in shell: a file of the reader, a change made before. */
  readonly before?: string
  /** A list where the page prints the command several times. */
  readonly exit?: number | readonly number[]
  /** What the reader types when the command asks. */
  readonly answer?: string
  /** The command goes on by itself: it is stopped with Ctrl-C once its output shows this (an extended expression of grep). */
  readonly until?: string
  /** With `until`: it stays in its terminal until the page ends. */
  readonly stays?: boolean
  readonly says?: RegExp
  /** Not bash. */
  readonly shell?: 'fish'
  /** Why no test can type it, and which test does the same in another way. */
  readonly left?: string
  /** A test that is no walk types it. */
  readonly typedIn?: TypedIn
  /** The page, or the chapter with a separate walk, on which the same command is typed: what it needs is there. */
  readonly typedOn?: string
}

/** The file of a test, and the words in it that type the command. */
export interface TypedIn {
  readonly test: string
  readonly as: string
}

/** A walk of a reader who reads pages, one after the other, and types every command. */
export interface Walk {
  readonly name: string
  /** Whole pages, and chapters of others: `docs/cli.md#host`. */
  readonly pages: readonly string[]
  /** What the pages take for granted at their beginning, in shell. */
  readonly ground?: string
  /** What must be true when everything was typed, in shell. */
  readonly end?: string
  /** By the name of the command, with its page before it where two pages print the same; each must be on a page. */
  readonly steps: Readonly<Record<string, Step>>
}

/** Ports, processes and /etc of a reader are their own, and nothing leaves the computer. */
const OWN = [
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
  '--net',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
]

/** The longest time of a walk on a busy computer. */
const PATIENCE_MS = 470_000

/** Programs that pages call, and that the reader needs. */
const PROGRAMS = ['unshare', 'ip', 'script', 'git', 'curl', 'jq', 'kubectl', 'fish', 'virsh']

/** Why no walk can run here; false where one can, and in CI, where a skipped test would hide a failure. */
export const whyNoReader: string | false = process.env.CI === undefined && lacking()

function lacking(): string | false {
  const missing = PROGRAMS.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
  if (missing.length > 0) return `${missing.join(', ')} missing`
  return spawnSync('unshare', [...OWN, 'true']).status === 0 ? false : 'unshare cannot make namespaces here'
}

const HANDS = `exec 3<&0 < /dev/null 2>&1
# A test that is killed can end nothing: this notices that nobody is left to read, and ends the namespace.
trap 'exit 1' TERM
(cat <&3 > /dev/null; kill -TERM 1; kill -KILL -1) &
set -e
ip link set lo up
mkdir ~/.etc
mount -t tmpfs none ~/.etc
mkdir ~/.etc/upper ~/.etc/work
mount -t overlay -o "lowerdir=/etc,upperdir=$HOME/.etc/upper,workdir=$HOME/.etc/work" none /etc
set -o pipefail +e
began() { current=$1; printf '\\n\\036%s\\n' "$1"; }
ended() { case " $3 " in *" $2 "*) ;; *) printf '\\n\\036failed\\n%s: exit code %s instead of %s\\n' "$1" "$2" "$3";; esac; }
# What the command before must have come to.
expected() { "$@" || printf '\\n\\036failed\\n%s: this is not so after it: %s\\n' "$current" "$*"; }
# Each question gets the answer. One that comes before its question is lost: a terminal forgets what was typed when a
# program takes it over.
answering() {
  local out=~/terminal.$1 in=~/typed.$1 code answered=0
  mkfifo "$in"
  script --quiet --return --flush --command "$3" /dev/null < "$in" > "$out" 2>&1 &
  local asked=$!
  exec 9> "$in"
  while kill -0 "$asked" 2> /dev/null; do
    if tail -c 2 "$out" | grep -Eq '[]:)] $' && [ "$(stat -c %s "$out")" != "$answered" ]; then
      answered=$(stat -c %s "$out")
      printf '%s\\n' "$2" >&9
    fi
    sleep 0.1
  done
  wait "$asked"
  code=$?
  exec 9>&-
  cat "$out"
  return "$code"
}
lasting() {
  local left=1200 out=~/terminal.$1
  setsid bash -c "$3" > "$out" 2>&1 &
  last=$!
  until grep -Eq -- "$2" "$out"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] && kill -0 "$last" || { cat "$out"; ended "$1" 'or silence' 'a running program'; return; }
    sleep 0.1
  done
  cat "$out"
}
stopped() { kill -INT -- "-$last"; wait "$last" 2> /dev/null || :; }
tries() { local left=$1; shift; until "$@"; do left=$((left - 1)); [ "$left" -gt 0 ] || return 1; sleep 0.1; done; }
`

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** `time`: how often it was typed before. */
function typing(command: Printed, index: number, step: Step, time: number): string {
  const before = step.before === undefined ? '' : `${step.before}\n`
  if (!isTyped(step)) return before
  const began = `${before}began ${index}\n`
  if (step.until !== undefined) {
    const stop = step.stays === true ? '' : 'stopped\n'
    return `${began}lasting ${index} ${quoted(step.until)} ${quoted(command.text)}\n${stop}`
  }
  const text = step.shell === undefined ? command.text : `${step.shell} -c ${quoted(command.text)}`
  const typed = step.answer === undefined ? text : `answering ${index} ${quoted(step.answer)} ${quoted(command.text)}`
  // That a plan finds something to do is no failure.
  const exit = typeof step.exit === 'object' ? step.exit[time] : step.exit
  const code = exit ?? (/^croft (plan|diff)\b/.test(command.name) ? "'0 2'" : 0)
  return `${began}${typed}\nended ${index} $? ${code}\n`
}

/** By the walk that has this step. */
export function isTyped({ left, typedOn, typedIn }: Step): boolean {
  return left === undefined && typedOn === undefined && typedIn === undefined
}

/** What is special about a command, on its page or on all of them. */
export function stepOf({ steps }: Walk, { page, name }: Printed): Step {
  return steps[`${page}: ${name}`] ?? steps[name] ?? {}
}

/** Types the pages, and gives back what the reader saw after each command, by its name. */
export async function walked(walk: Walk): Promise<ReadonlyMap<string, string>> {
  const commands = walk.pages.flatMap((page) => commandsOf(page))
  const names = commands.flatMap(({ page, name }) => [name, `${page}: ${name}`])
  const gone = Object.keys(walk.steps).filter((name) => !names.includes(name))
  assert.deepEqual(gone, [], 'no page prints these any more')
  const room = mkdtempSync(join(tmpdir(), 'croft-reader-'))
  try {
    for (const folder of ['bin', 'here']) mkdirSync(join(room, folder))
    symlinkSync(process.env.CROFT_TEST_BUILT ?? join(ROOT, 'bin/croft'), join(room, 'bin/croft'))
    symlinkSync(join(ROOT, 'examples'), join(room, 'here/examples'))
    const script = commands
      .map((one, index) => {
        const time = commands.slice(0, index).filter(({ name }) => name === one.name).length
        return typing(one, index, stepOf(walk, one), time)
      })
      .join('')
    writeFileSync(
      join(room, 'here/reader.sh'),
      `${HANDS}set -e\n${walk.ground ?? ''}\nset +e\n${script}${walk.end ?? ''}\n`,
    )
    const { seen, wrong } = judged(walk, commands, await said(room))
    if (wrong.length > 0) assert.fail(wrong.join('\n\n'))
    return seen
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

/** What came after each command, and what is not as the page says. */
function judged(walk: Walk, commands: readonly Printed[], output: string) {
  const parts = output.split(/\n\u001e(\w+)\r?\n/)
  const seen = new Map<string, string>()
  const wrong: string[] = []
  for (let at = 1; at < parts.length; at += 2) {
    const [which = '', text = ''] = parts.slice(at, at + 2)
    const command = commands[Number(which === 'failed' ? text.split(':')[0] : which)]
    if (command === undefined) continue
    if (which === 'failed') wrong.push(`${shown(command)}\n${text}${(parts[at - 1] ?? '').slice(-3000)}`)
    else seen.set(command.name, `${seen.get(command.name) ?? ''}${text}`)
  }
  for (const command of commands) {
    const step = stepOf(walk, command)
    const text = seen.get(command.name)
    if (!isTyped(step)) continue
    if (text === undefined) wrong.push(`${shown(command)}\nwas not typed\n${output.slice(-3000)}`)
    else if (step.says?.test(text) === false) wrong.push(`${shown(command)}\ndoes not say ${step.says}\n${text}`)
  }
  return { seen, wrong }
}

function shown({ page, line, text }: Printed): string {
  return `${page}:${line}: ${text}`
}

function said(room: string): Promise<string> {
  const me = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
  const path = `${room}/bin:${process.env.PATH ?? ''}:/usr/sbin:/sbin`
  const env = { ...me, PATH: path, HOME: room, TERM: 'dumb', LANG: 'C.UTF-8', TZ: 'UTC', ...COMPILED }
  return new Promise((resolve, reject) => {
    const reader = spawn('unshare', [...OWN, 'bash', 'reader.sh'], {
      cwd: join(room, 'here'),
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let output = ''
    reader.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    // A command that never ends is told with what it said: the runner of tests would only say that it waited.
    const tired = setTimeout(() => reader.kill('SIGKILL'), PATIENCE_MS)
    reader.once('error', reject)
    reader.once('close', () => {
      clearTimeout(tired)
      resolve(output)
    })
  })
}
