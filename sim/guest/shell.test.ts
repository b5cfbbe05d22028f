import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../src/lib/random.ts'
import { addBox } from '../metal/box.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { createWorld } from '../world/create-world.ts'
import type { Machine } from '../world/types.ts'
import type { Session } from './commands.ts'
import { createMachine } from './machine.ts'
import { runScript } from './shell.ts'
import { ALL_COMMANDS } from './system-commands.ts'

function machine(): Machine {
  const made = createMachine(true, {})
  made.active.add('ssh')
  return made
}

function ran(script: string, on = machine(), input = ''): Session {
  const world = createWorld({ clock: createVirtualClock(0), random: seededRandom(1) })
  const { computer } = addBox(world, { name: 'web', addresses: ['192.0.2.1'] })
  const session: Session = {
    computer: { ...computer, machine: on },
    machine: on,
    pid: 901,
    nowMs: 0,
    tookMs: 0,
    children: 0,
    out: '',
    err: '',
    exit: undefined,
    signal: undefined,
  }
  runScript(script, session, ALL_COMMANDS, input)
  return session
}

const CASES: readonly (readonly [script: string, out: string, exit: number])[] = [
  ['echo hello; echo err >&2; exit 0', 'hello\n', 0],
  ['exit 3; echo never', '', 3],
  ['false && echo no || echo yes', 'yes\n', 0],
  ['true || echo no', '', 0],
  ['false; echo $?', '1\n', 0],
  ['i=0; while [ $i -lt 3 ]; do echo $i; i=$((i + 1)); done', '0\n1\n2\n', 0],
  ['if [ a = b ]; then echo same; else echo other; fi', 'other\n', 0],
  ['x=1; if [ $x -eq 1 ]; then echo one; fi; echo end', 'one\nend\n', 0],
  [`echo 'a  $x' "b $((2 * 3))"`, 'a  $x b 6\n', 0],
  ['printf "%s-%s\\n" a b | grep -c a', '1\n', 0],
  ['echo secret > /tmp/f; cat /tmp/f; echo more >> /tmp/f; grep more /tmp/f', 'secret\nmore\n', 0],
  ['cat /nope 2>/dev/null', '', 1],
  ['hostname', 'web\n', 0],
  ['systemctl is-active ssh k3s', 'active\ninactive\n', 3],
  ['nosuchthing --help', '', 127],
  ['# a remark\necho one\necho two', 'one\ntwo\n', 0],
]

for (const [script, out, exit] of CASES) {
  test(`sh -c ${JSON.stringify(script)}`, () => {
    const session = ran(script)
    assert.deepEqual([session.out, session.exit], [out, exit])
  })
}

test('a script may kill itself, take its time, read its input, and never runs for ever', () => {
  assert.equal(ran('kill -9 $$').signal, 9)
  assert.equal(ran('sleep 4; echo done').tookMs, 4000)
  assert.equal(ran('cat', machine(), 'line1\nline2').out, 'line1\nline2')
  assert.equal(ran('while true; do true; done; echo out').out, 'out\n')
})

test('what one command changes the next one sees', () => {
  const on = machine()
  on.files.write('/etc/systemd/system/k3s.service', '[Service]\n')
  assert.equal(ran('systemctl enable --now k3s', on).exit, 0)
  assert.equal(ran('systemctl is-active k3s && systemctl is-enabled k3s', on).out, 'active\nenabled\n')
  assert.equal(ran('systemctl restart nothing', on).exit, 5)
  ran('ip addr add 10.0.0.9/24 dev eth0', on)
  assert.deepEqual(on.addresses.get('eth0'), ['10.0.0.9/24'])
  assert.equal(ran('rm -f /etc/systemd/system/k3s.service /nope; ls /etc/systemd/system', on).out, '')
})
