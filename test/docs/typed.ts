import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/**
 * The commands of a page, in order, as one script. A command for a second terminal runs in the background
 * until the script ends; the first of them is the simulator, whose files the others need.
 */
function commandsOf(page: string): string {
  const blocks = [...page.matchAll(/^```sh(| terminal)\n([\s\S]*?)^```$/gm)]
  return blocks.map(([, where, text = '']) => (where === '' ? text : inTerminal(text))).join('\n')
}

function inTerminal(text: string): string {
  const simulator = text.startsWith('croft sim') ? 'tries 1200 test -e infra/sim.env' : ':'
  return `setsid bash -c ${quoted(`exec 2>&1; ${text.trim()}`)} > /dev/null &\nterminals="$terminals $!"\n${simulator}\n`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * A command that fails ends it; that a plan finds something to do is no failure. A test that is killed can end nothing, so
 * the script looks for itself whether anybody is left to read it.
 */
const STRICT = `terminals=
(while kill -0 "$PPID"; do sleep 1; done; kill -TERM $$) > /dev/null 2>&1 &
reader=$!
trap 'kill "$reader" || :; for one in $terminals; do kill -TERM -- "-$one"; done; wait' EXIT
trap 'exit 1' TERM
trap 'code=$?; case "$BASH_COMMAND:$code" in "croft plan"*:2) ;; *) echo "FAILED $code: $BASH_COMMAND" >&2; exit 1;; esac' ERR
tries() { local left=$1; shift; until "$@"; do left=$((left - 1)); [ "$left" -gt 0 ]; sleep 0.1; done; }
`

/** What a reader sees who types everything that these pages say, one after the other. */
export async function typed(...pages: readonly string[]): Promise<string> {
  const room = mkdtempSync(join(tmpdir(), 'croft-docs-'))
  const bin = join(room, 'bin')
  mkdirSync(bin)
  symlinkSync(process.env.CROFT_TEST_BUILT ?? join(ROOT, 'bin/croft'), join(bin, 'croft'))
  symlinkSync(join(ROOT, 'examples'), join(room, 'examples'))
  const me = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
  const env = { ...me, PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: room, TERM: 'dumb' }
  const script = pages.map((page) => commandsOf(readFileSync(join(ROOT, page), 'utf8'))).join('\n')
  assert.ok(script.includes('croft sim') && script.includes('croft apply'))
  try {
    writeFileSync(join(room, 'reader.sh'), STRICT + script)
    const said = await ended(spawn('bash', ['reader.sh'], { cwd: room, env }))
    assert.equal(said.code, 0, said.output.slice(-6000))
    return said.output
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

function ended(child: ReturnType<typeof spawn>): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}
