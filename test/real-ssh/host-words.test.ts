import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Answers, seenIn } from '../../src/drivers/ssh/ask.ts'
import { rulesOf } from '../../src/drivers/ssh/items/registry.ts'
import { performCommands } from '../../src/drivers/ssh/perform.ts'
import { probeInput, readProbe } from '../../src/drivers/ssh/probe.ts'
import { PROBE } from '../../src/drivers/ssh/probe-program.ts'
import { objectionTo } from '../../src/drivers/ssh/rules.ts'
import type { Shell } from '../../src/lib/shell.ts'
import type { HostItem } from '../../src/model/host-item.ts'
import { all, missingTypes } from '../simulation/every-item.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

// Not in /tmp, which is a separate file system inside that the outside does not see.
const CANARY = '/var/canary'
const HOSTILE = [
  `$(touch ${CANARY})`,
  `\`touch ${CANARY}\``,
  `a;touch ${CANARY}`,
  `a\ntouch ${CANARY}\nb`,
  `'; touch ${CANARY}; '`,
  `"; touch ${CANARY}; "`,
  '--help',
  '../../../etc/sudoers.d/x',
]

/** One item of every type; none is about the way by which we come in. */
const ITEMS = all.resources.flatMap(({ desired }): readonly HostItem[] => {
  if (desired.type !== 'item') return []
  const { item } = desired.item
  return item.type === 'network-address'
    ? [{ ...item, name: 'lab0', spec: { ...item.spec, interface: 'lab0' } }]
    : [item]
})

/** Fields that choose among a few words; what is none of them is no item. */
const CHOICES = ['manager', 'bus', 'type', 'state']

/** The value with each of its texts in turn replaced by another. */
function* withText(value: unknown, text: string): Generator<unknown> {
  if (typeof value === 'string') yield text
  else if (Array.isArray(value)) {
    for (const [at, inner] of value.entries()) for (const one of withText(inner, text)) yield value.with(at, one)
  } else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value).filter(([field]) => !CHOICES.includes(field)))
      for (const one of withText(inner, text)) yield { ...value, [name]: one }
}

const hostileItems = ITEMS.flatMap((item) =>
  HOSTILE.flatMap((text) => [
    { ...item, name: text },
    ...[...withText(item.spec, text)].map((spec) => ({ ...item, spec }) as HostItem),
  ]),
)

async function look(shell: Shell, items: readonly HostItem[]): Promise<Answers> {
  const { text, keys } = probeInput(items.flatMap((item) => rulesOf(item).asks(item)))
  const probed = readProbe((await shell.run(['sh', '-c', PROBE], { input: text, timeoutMs: 200_000 })).stdout, keys)
  assert.ok(probed)
  return probed.answers
}

/** Does what croft would do, and takes it back, even where its rules refuse. */
async function done(shell: Shell, item: HostItem): Promise<void> {
  const rules = rulesOf(item)
  const seen = seenIn(await look(shell, [item]))
  const hands = {
    host: 'cow',
    shell,
    prove: async () => undefined,
    resolveSecret: () => Promise.reject(new Error('there is none')),
  }
  const signal = new AbortController().signal
  for (const commands of [rules.commands(item, seen, rules.diff(item, seen)), rules.undo?.(item, seen) ?? []])
    await performCommands(commands, hands, signal)
}

test(
  '[S-01] [S-15] in every text of every type of item, with no schema before it, nothing is ever read by a shell',
  within,
  async (t) => {
    assert.deepEqual(missingTypes(all), [])
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    // grub's own program reads the file with a shell, as this does.
    writeFileSync(join(cow.root, 'etc/default/grub'), 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    writeFileSync(join(cow.root, 'usr/local/sbin/update-grub'), '#!/bin/sh\n. /etc/default/grub\n', { mode: 0o755 })
    // These read no words with a shell, and a hundred reloads of systemd are many.
    const stub = (program: string, text: string) =>
      writeFileSync(join(cow.root, 'usr/local/sbin', program), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    // No unit is active, or package work would wait for the end of its unit.
    stub('systemctl', '[ "$1" != is-active ]')
    stub('systemd-run', '')
    const shell = one.shells.open(cow.target())
    const executed = hostileItems.filter((item) => objectionTo(item) === undefined)
    assert.ok(executed.length > 50, 'else nothing is proved')
    t.diagnostic(`${hostileItems.length} items, ${executed.length} of them put in place`)
    await look(shell, hostileItems)
    assert.equal(existsSync(join(cow.root, CANARY)), false, 'looking')
    const todo = [...executed]
    const worker = async () => {
      for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
        await done(shell, item)
        assert.equal(existsSync(join(cow.root, CANARY)), false, JSON.stringify(item))
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    assert.equal(existsSync(join(cow.root, 'etc/sudoers.d/x')), false)
    await shell.close()
  },
)
