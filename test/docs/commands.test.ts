import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '../..')

/** The commands of the page, in order: those for a terminal of their own, and those of the reader. */
function commandsOf(page: string): { readonly terminals: readonly string[]; readonly reader: string } {
  const blocks = [...page.matchAll(/^```sh(| terminal)\n([\s\S]*?)^```$/gm)]
  const texts = (where: string) => blocks.filter((block) => block[1] === where).flatMap((block) => block[2] ?? [])
  return { terminals: texts(' terminal'), reader: texts('').join('\n') }
}

/** A command that fails ends it; that a plan finds something to do is no failure. */
const STRICT = `trap 'code=$?; case "$BASH_COMMAND:$code" in "croft plan"*:2) ;; *) echo "FAILED $code: $BASH_COMMAND" >&2; exit 1;; esac' ERR
`

/** What a reader has done who typed everything that a page says. */
async function typed(page: string): Promise<string> {
  const room = mkdtempSync(join(tmpdir(), 'croft-docs-'))
  const bin = join(room, 'bin')
  mkdirSync(bin)
  symlinkSync(join(ROOT, 'bin/croft'), join(bin, 'croft'))
  symlinkSync(join(ROOT, 'examples'), join(room, 'examples'))
  const env = { PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: room, TERM: 'dumb' }
  const { terminals, reader } = commandsOf(readFileSync(join(ROOT, page), 'utf8'))
  assert.ok(terminals.length === 1 && reader.includes('croft apply'))
  const running = terminals.map((text) =>
    spawn('bash', ['-c', `exec ${text.trim()}`], { cwd: room, env, stdio: 'ignore' }),
  )
  try {
    for (let tries = 0; !existsSync(join(room, 'infra/sim.env')) && tries < 600; tries++) await sleep(100)
    writeFileSync(join(room, 'reader.sh'), STRICT + reader)
    const said = await ended(spawn('bash', ['reader.sh'], { cwd: room, env }))
    assert.equal(said.code, 0, said.output.slice(-6000))
    return said.output
  } finally {
    for (const child of running) child.kill('SIGTERM')
    rmSync(room, { recursive: true, force: true })
  }
}

test('a reader who types what "Your first cluster" says gets a cluster', async () => {
  const output = await typed('docs/first-cluster.md')
  for (const node of ['k3s-1', 'k3s-2', 'k3s-3']) assert.match(output, new RegExp(`^${node} +Ready`, 'm'))
  assert.match(output, /Machine\/worker-\w+ +True +True/)
})

test('a reader who types what README says gets its machines', async () => {
  assert.match(await typed('README.md'), /Apply complete!/)
})

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
