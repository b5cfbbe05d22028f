import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostItem, WantedItem } from '../../model/host-item.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import { askKey, type HostAnswer, sha256 } from './ask.ts'
import { showCommand } from './command.ts'
import { rulesOf } from './items/registry.ts'
import { type ItemMark, readMark } from './marks.ts'
import { hostCommands } from './perform.ts'
import { ITEMS_LIST, rules } from './rules.ts'

const item = (...args: readonly string[]): HostItem => ({
  type: 'kernel-args',
  name: 'cmdline',
  spec: { args, remove: [] },
})
const ID = 'kernel-args:cmdline'

function resourceOf(wanted: HostItem, reboot: WantedItem['reboot'] = 'allowed'): Resource {
  return {
    key: `HostConfig/base@cow/${ID}`,
    uid: 'u1',
    kind: 'HostConfig',
    name: 'base',
    driver: 'ssh',
    connection: 'host/cow',
    desired: { type: 'item', item: { host: 'cow', item: wanted, reboot } },
    needs: [],
    policy: { deletion: 'Delete' },
    origin: { file: 'a.yaml', line: 1, column: 1 },
    generation: '1',
  } as unknown as Resource
}

/** A host with these written and these active kernel arguments, and this boot id. */
function seen(wanted: HostItem, written: string, running: string, bootId: string, mark?: ItemMark): ObservedResource {
  const grub = `GRUB_CMDLINE_LINUX_DEFAULT="${written}"\n`
  const known: Readonly<Record<string, HostAnswer>> = {
    'file /etc/default/grub': {
      kind: 'file',
      mode: '644',
      owner: 'root',
      group: 'root',
      sha256: sha256(grub),
      content: grub,
    },
    [askKey({ ask: 'run', argv: ['cat', '/proc/cmdline'] })]: { code: '0', out: `${running}\n` },
  }
  const answers = new Map(
    rulesOf(wanted)
      .asks(wanted)
      .map((ask) => [askKey(ask), known[askKey(ask)] ?? {}]),
  )
  return {
    connection: 'host/cow',
    type: 'item',
    list: ITEMS_LIST,
    externalId: ID,
    host: 'cow',
    name: ID,
    close: { config: { look: { answers, bootId, ...(mark === undefined ? {} : { mark }) } }, atMs: 0 },
    ...(mark === undefined ? {} : { mark }),
  }
}

/** Returns the steps of one pass, and the resulting mark. */
function pass(wanted: HostItem, observed: ObservedResource) {
  const resource = resourceOf(wanted)
  const changes = rules.diff(resource, observed)
  const held = changes.find(({ blocked }) => blocked !== undefined)?.blocked?.message
  const steps = held === undefined && changes.length > 0 ? rules.updateSteps(resource, observed, changes) : []
  const commands = steps.flatMap(hostCommands)
  const marks = commands.flatMap((one) =>
    one.do === 'put' && one.path.startsWith('/var/lib/croft/items/') ? [readMark(one.content ?? '')] : [],
  )
  return { held, verbs: steps.map(({ verb }) => verb), mark: marks.at(-1) }
}

test('a host is restarted once for what is declared; when that did not help, a person is told', () => {
  const wanted = item('iommu=pt')
  const first = pass(wanted, seen(wanted, 'quiet', 'quiet', 'boot-1'))
  assert.deepEqual(first.verbs, ['configure', 'reboot'])
  assert.equal(first.mark?.restarted, 'boot-1')

  const before = pass(wanted, seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-1', first.mark))
  assert.deepEqual(before.verbs, ['reboot'], 'it has not restarted yet')

  const after = pass(wanted, seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-2', first.mark))
  assert.match(after.held ?? '', /cow was restarted for it, and it is still not in force/)
  assert.equal(pass(wanted, seen(wanted, 'quiet iommu=pt', 'quiet iommu=pt', 'boot-2', first.mark)).held, undefined)

  const drift = pass(wanted, seen(wanted, 'quiet', 'quiet', 'boot-3', first.mark))
  assert.deepEqual(
    drift.verbs,
    ['configure', 'reboot'],
    'somebody took it away: it is written again, and in force then',
  )
  const other = item('iommu=pt', 'a=1')
  assert.deepEqual(pass(other, seen(other, 'quiet iommu=pt a=1', 'quiet', 'boot-2', first.mark)).verbs, ['reboot'])
})

test('what is cut off before its last command is repeated, is not in force, and the host is not restarted for it', () => {
  const wanted = item('iommu=pt')
  const resource = resourceOf(wanted)
  const observed = seen(wanted, 'quiet', 'quiet', 'boot-1')
  const [step] = rules.updateSteps(resource, observed, rules.diff(resource, observed))
  const commands = step === undefined ? [] : hostCommands(step)
  const marked = (upTo: number) =>
    commands
      .slice(0, upTo)
      .flatMap((one) => (one.do === 'put' && one.path.startsWith('/var/lib/croft/items/') ? [one.content ?? ''] : []))
      .map(readMark)
      .at(-1)
  const first = commands.findIndex((one) => one.do === 'put') + 1
  for (let cut = first; cut < commands.length; cut++) {
    // The worst case: the file is right already, so that it shows no difference.
    const left = seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-1', marked(cut))
    assert.equal(rules.readiness?.(resource, left).ready, false, `cut at ${cut}`)
    const changes = rules.diff(resource, left)
    const again = rules.updateSteps(resource, left, changes)
    assert.deepEqual(
      again.map(({ verb }) => verb),
      ['configure'],
      `cut at ${cut}`,
    )
    const shown = again.flatMap(hostCommands).map(showCommand)
    assert.ok(shown.includes('update-grub'), `cut at ${cut}: ${shown.join(', ')}`)
  }
  assert.equal(marked(commands.length)?.pending, undefined)
  assert.deepEqual(pass(wanted, seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-1', marked(commands.length))).verbs, [
    'reboot',
  ])
})

test('a host is not restarted while another item that its next start would meet has failed', () => {
  const wanted = item('iommu=pt')
  const observed = seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-1')
  const look = { ...(observed.close?.config.look as object), unfit: ['mount:/mnt/data'] }
  const failed = { ...observed, close: { config: { look }, atMs: 0 } }
  const { held, verbs } = pass(wanted, failed)
  assert.deepEqual(verbs, [])
  assert.match(held ?? '', /cow is not restarted while a change of mount:\/mnt\/data has not succeeded/)
})

test('how it was before us is still known after restarts', () => {
  const wanted = item('iommu=pt')
  const first = pass(wanted, seen(wanted, 'quiet', 'quiet', 'boot-1'))
  const again = pass(wanted, seen(wanted, 'quiet iommu=pt', 'quiet', 'boot-1', first.mark))
  assert.deepEqual(again.mark?.undo, first.mark?.undo)
  const other = item('a=1')
  const changed = pass(other, seen(other, 'quiet iommu=pt', 'quiet iommu=pt', 'boot-2', first.mark))
  const undo = JSON.stringify(changed.mark?.undo)
  assert.ok(undo.includes('iommu=pt a=1'), undo)
})
