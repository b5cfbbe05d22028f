import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { CROFT, endAll, estateAt, type Running, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

/** Reads what a program shows until it matches. What it showed after the last match is looked at. */
function watch({ child, ended }: Running) {
  let text = ''
  let from = 0
  let look = () => {}
  for (const side of [child.stdout, child.stderr])
    side?.on('data', (chunk: string) => {
      text += chunk
      look()
    })
  return {
    type: (keys: string) => void child.stdin?.write(keys),
    all: () => text,
    shows: (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        look = () => {
          const found = pattern.exec(text.slice(from))
          if (found === null) return
          from += found.index + found[0].length
          look = () => {}
          resolve()
        }
        void ended.then(() => reject(new Error(`it ended before it showed ${pattern}: ${text}`)))
        look()
      }),
  }
}

test('croft console: the login prompt of a machine, on a terminal and without one; refused by name where there is none', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const bare = webVm().replaceAll('web-1', 'bare-1').replace('vmId: 205', 'vmId: 206')
  estateAt(path.join(cwd, 'estate'), simulator, {
    'vm.yaml': webVm({ fields: ['serialDevice: [{device: socket}]'] }),
    'bare.yaml': bare,
  })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const applied = await start(['apply', '--yes', '--timeout', '240s', 'estate'], { cwd, env }).ended
  assert.equal(applied.code, 0, applied.stderr)

  // Keys from a pipe, as a script sends them.
  const piped = start(['console', 'web-1', 'estate'], { cwd, env, typing: true })
  const screen = watch(piped)
  await screen.shows(/Leave it with Ctrl-\]/)
  await screen.shows(/login: /)
  screen.type('root\r')
  await screen.shows(/Password: /)
  screen.type('croft\r')
  await screen.shows(/# /)
  screen.type('echo from inside\r')
  await screen.shows(/\nfrom inside/)
  screen.type('\u001d')
  const left = await piped.ended
  assert.equal(left.code, 0, left.stderr)
  assert.match(left.stderr, /Left the console of web-1/)
  assert.doesNotMatch(left.stdout + left.stderr, /PVEVNC|PVEAPIToken/)

  // A real terminal: Ctrl-C is a key for the machine, Ctrl-] is ours.
  const command = `stty rows 40 cols 120; '${process.execPath}' '${CROFT}' console web-1 estate`
  const terminal = start(['-qec', command, '/dev/null'], { cwd, env, launcher: 'script', typing: true })
  const seen = watch(terminal)
  await seen.shows(/login: /)
  seen.type('root\u0003')
  await seen.shows(/root[\s\S]*login: /)
  seen.type('\u001d')
  await seen.shows(/Left the console of web-1/)
  const over = await terminal.ended
  assert.equal(over.code, 0, seen.all())

  const refused = await start(['console', 'bare-1', 'estate'], { cwd, env }).ended
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /VM 206 on fun-bedbug: it has no serial port; declare one .*serialDevice/)
  const unknown = await start(['console', 'nobody', 'estate'], { cwd, env }).ended
  assert.equal(unknown.code, 64)
  assert.match(unknown.stderr, /There is no machine nobody/)

  const { stdout } = await start(['events', '--audit', '--dir', 'estate'], { cwd, env }).ended
  const entries = stdout.split('\n').filter((line) => line.includes('console'))
  assert.equal(entries.length, 3, stdout)
  assert.match(entries.join('\n'), /refused/)
  assert.doesNotMatch(stdout, /from inside|PVEVNC/)
})
