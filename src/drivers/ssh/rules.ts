import { destroying, overwriting } from '../../model/destruction.ts'
import { isOfEstate } from '../../model/estate.ts'
import { HOST_PROGRAMS, type HostItem, type HostItemType, itemId, type WantedItem } from '../../model/host-item.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import { NO_GUESTS, type Rules } from '../../model/rules.ts'
import { type HarmParts, harmOf, type Step } from '../../model/step.ts'
import { type Answers, askKey, type ItemFacts, seenIn, sha256 } from './ask.ts'
import { type Command, run, showCommand } from './command.ts'
import { guarded } from './doors.ts'
import { editOf } from './edit.ts'
import { change } from './item.ts'
import { rulesOf } from './items/registry.ts'
import { type ItemMark, leaveCommands, markCommands, markPath, pendingOf } from './marks.ts'
import { undoOfBoth } from './undo.ts'

/** The one list of a host: all its wanted items, and all that croft changed there. */
export const ITEMS_LIST = 'items'

/** A close look at one item. */
export interface ItemDetails {
  readonly answers: Answers
  readonly mark?: ItemMark
  readonly secretSha?: string
  /** Differs after every start of the host. */
  readonly bootId?: string
  /** Items of the host with an interrupted or failed change, which affect its next start. */
  readonly unfit?: readonly string[]
}

/** Items always exist in some state, so they are compared and changed, never created. */
export const rules: Rules = {
  ...NO_GUESTS,
  keeps: ({ desired }) => desired.type === 'item',
  awaits: () => [],
  undeletable: () => undefined,
  notes: () => [],
  declaredId: (resource) => itemId(wantedOf(resource).item),
  listOf: () => ITEMS_LIST,
  hostOf: (resource) => wantedOf(resource).host,
  choosesId: () => false,
  obstacles: () => [],
  diff(resource, observed) {
    const { item, reboot, host } = wantedOf(resource)
    const objection = objectionTo(item)
    if (objection !== undefined) return [objection]
    const late = lateAnswer(item, observed)
    if (late !== undefined) return [late]
    const changes = rulesOf(item).diff(item, seenOf(observed))
    const mark = lookOf(observed)?.mark
    const moved = mark === undefined ? [] : ownerChanges(mark, resource)
    if (moved.some(({ blocked }) => blocked !== undefined)) return moved
    if (mark?.pending !== undefined) {
      // A program such as update-grub may not have run yet, so a restart could be useless or harmful.
      const live = changes.filter((one) => one.effect === 'live')
      return [...live, change(REPEATED, 'interrupted', 'done'), ...moved]
    }
    const inVain = wasRestarted(item, observed) ? restartedInVain(changes, host) : undefined
    return [...(inVain ?? judgeRestarts(changes, reboot, host, lookOf(observed)?.unfit ?? [])), ...moved]
  },
  createSteps: () => [],
  updateSteps(resource, observed, changes) {
    const wanted = wantedOf(resource)
    const live = changes.filter((one) => one.effect === 'live')
    const steps: Step[] = live.length === 0 ? [] : [configureStep(resource, wanted, observed, live)]
    return changes.some((one) => one.effect === 'restart') ? [...steps, rebootStep(resource, wanted, observed)] : steps
  },
  adoptSteps: () => [],
  leaveSteps(observed) {
    const { externalId: id, host } = observed
    if (lookOf(observed)?.mark === undefined) return []
    const commands: readonly Command[] = leaveCommands(id)
    return [stepOf({ verb: 'mark' }, `take croft's mark off ${id}`, host, id, commands, ['single/undo'])]
  },
  deleteSteps(destruction) {
    const { observed } = destruction
    const undo = lookOf(observed)?.mark?.undo ?? null
    const { externalId: id, host } = observed
    const back = guarded(id, undo ?? [], [])
    const commands: readonly Command[] = [...back, { do: 'remove', path: markPath(id) }]
    const summary = undo === null ? `leave ${id} as it is: it cannot be taken back` : `take back ${id}`
    return [stepOf({ verb: 'delete', ...destroying(destruction) }, summary, host, id, commands, queuesOf(id, commands))]
  },
  readiness(resource, observed) {
    const { item } = wantedOf(resource)
    const late = lateAnswer(item, observed)?.blocked?.message
    if (late !== undefined) return { ready: false, reason: 'NotRead', message: late, status: 'Differs' }
    const differs = rulesOf(item).diff(item, seenOf(observed))
    if (lookOf(observed)?.mark?.pending !== undefined)
      return {
        ready: false,
        reason: 'Interrupted',
        message: 'a change of it did not run to its end, and croft repeats it',
        status: 'Differs',
      }
    return differs.length === 0
      ? { ready: true, reason: 'InPlace', message: 'it is as declared', status: 'InPlace' }
      : {
          ready: false,
          reason: 'Differs',
          message: `${differs.map((one) => one.path).join(', ')} differ`,
          status: 'Differs',
        }
  },
}

/** A question about the item that the host did not answer in time: its state is unknown, and it stays. */
function lateAnswer(item: HostItem, observed: ObservedResource): Change | undefined {
  const answers = lookOf(observed)?.answers
  const late = rulesOf(item)
    .asks(item)
    .find((ask) => answers?.get(askKey(ask))?.late === '1')
  if (late?.ask !== 'file') return undefined
  const blocked = {
    message: `${late.path} does not answer: the disk or the share that it is on hangs`,
    allow: 'bring it back, or unmount it',
  }
  return { ...change('look', null, null), blocked }
}

/** Returns the owner in the mark, if it is not exactly us. */
function ownerChanges(mark: ItemMark, { uid, key, estate }: Resource): readonly Change[] {
  if (estate !== undefined && !isOfEstate(mark.estate, estate)) {
    const message = `${mark.id} belongs to ${mark.owner ?? mark.uid} of another estate (${mark.estate ?? ''})`
    const allow = 'take it out of one of the two directories'
    return [{ ...change('mark', mark.owner, key), blocked: { message, allow } }]
  }
  if (mark.uid !== uid) return [change('mark', mark.owner, key)]
  return estate === undefined || mark.estate === estate
    ? []
    : [{ ...change('mark', mark.estate, estate), own: true as const }]
}

/**
 * Makes a change that needs a restart only if restarts are permitted, and reports it otherwise. A host with failed
 * changes is not restarted: it might not return.
 */
function judgeRestarts(
  changes: readonly Change[],
  reboot: WantedItem['reboot'],
  host: string,
  unfit: readonly string[],
): readonly Change[] {
  if (reboot === 'allowed' && unfit.length === 0) return changes
  const live = changes.filter((one) => one.effect === 'live')
  // Live changes come first; the restart is requested once nothing else is left.
  if (live.length > 0) return live
  return changes.map((one) =>
    one.effect === 'restart' && one.blocked === undefined
      ? {
          ...one,
          blocked:
            reboot === 'allowed'
              ? {
                  message: `${host} is not restarted while a change of ${unfit.slice(0, 3).join(', ')} has not succeeded: it might not start`,
                  allow: 'correct that declaration or take it out of Git',
                }
              : {
                  message: `it is in force after ${host} was restarted`,
                  allow: `set reboot: allowed, or run croft host reboot ${host}`,
                },
        }
      : one,
  )
}

/** Reports whether the host was restarted for the current declaration, and nothing was written since. */
function wasRestarted(item: HostItem, observed: ObservedResource): boolean {
  const { mark, bootId } = lookOf(observed) ?? {}
  return (
    mark?.restarted !== undefined &&
    bootId !== undefined &&
    mark.restarted !== bootId &&
    mark.declared === declaredHash(item)
  )
}

/** One restart applies it or none does: a second would only interrupt the host again. */
function restartedInVain(changes: readonly Change[], host: string): readonly Change[] | undefined {
  if (changes.length === 0 || changes.some((one) => one.effect !== 'restart')) return undefined
  return changes.map((one) => ({
    ...one,
    blocked: one.blocked ?? {
      message: `${host} was restarted for it, and it is still not in force: something else decides it there`,
      allow: `look for what does (/etc/default/grub.d, another boot loader, a driver in the initramfs), then croft host reboot ${host}`,
    },
  }))
}

const declaredHash = ({ spec }: HostItem) => sha256(JSON.stringify(spec)).slice(0, 16)

function configureStep(
  resource: Resource,
  { item, host }: WantedItem,
  observed: ObservedResource,
  changes: readonly Change[],
): Step {
  const id = itemId(item)
  const seen = seenOf(observed)
  const mark = lookOf(observed)?.mark
  const declared = declaredHash(item)
  const undo = undoOf(item, observed)
  const differs = changes.some(({ path }) => path !== 'mark' && path !== REPEATED)
  const fresh = differs ? rulesOf(item).commands(item, seen, changes) : []
  const changing = [...fresh, ...repeated(mark?.pending?.again ?? [], fresh)]
  const summary = `${item.type} ${item.name}: ${changing.map(showCommand).slice(-2).join(', ') || 'note whose it is'}`
  const doing = guarded(id, changing, differs ? (rulesOf(item).undo?.(item, seen) ?? []) : [])
  const note = (more: Pick<ItemMark, 'pending'>) => markCommands(id, resource, declared, undo, more)
  const commands = doing.length === 0 ? note({}) : [...note({ pending: pendingOf(doing) }), ...doing, ...note({})]
  return stepOf(harmDoneBy(item, changing), summary.slice(0, 200), host, id, commands, queuesFor(item))
}

/** Disks are erased only if a person declared their serial numbers. */
function harmDoneBy(item: HostItem, commands: readonly Command[]): HarmParts {
  const isErasing = commands.some((one) => one.do === 'run' && /\bwipefs -a\b/.test(one.argv.join(' ')))
  if (!isErasing) return { verb: 'configure' }
  const serials = 'erase' in item.spec ? (item.spec.erase ?? []) : []
  const disks = serials.map((serial) => `what is on disk ${serial}`)
  return { verb: 'configure', disruption: 'data-loss', ...overwriting(itemId(item), disks) }
}

/** The change of an item that was interrupted before its last command. */
const REPEATED = 'commands'

/** Returns what an interrupted change left to do. If the item has new commands, those arm, prove and confirm. */
function repeated(again: readonly Command[], fresh: readonly Command[]): readonly Command[] {
  if (fresh.length === 0) return again
  const known = new Set(fresh.map((one) => JSON.stringify(one)))
  return again.filter((one) => one.do === 'run' && !known.has(JSON.stringify(one)))
}

/** Returns the commands that restore the item's state before croft's first change. */
function undoOf(item: HostItem, observed: ObservedResource): readonly Command[] | null {
  const mark = lookOf(observed)?.mark
  const now = mark?.declared === declaredHash(item) ? null : (rulesOf(item).undo?.(item, seenOf(observed)) ?? null)
  return mark === undefined ? now : undoOfBoth(mark.undo, now)
}

function rebootStep(resource: Resource, { item, host }: WantedItem, observed: ObservedResource): Step {
  const bootId = lookOf(observed)?.bootId
  const undo = undoOf(item, observed)
  // Recorded before the restart, so that the next pass sees the attempt.
  const note =
    bootId === undefined ? [] : markCommands(itemId(item), resource, declaredHash(item), undo, { restarted: bootId })
  // Delayed, so that the answer still arrives.
  const command = run(
    'sh',
    '-c',
    `${HOST_PROGRAMS.reboot}\nif [ -d /run/systemd/system ]; then systemd-run --quiet --on-active=2 --timer-property=AccuracySec=1s systemctl reboot; else shutdown -r +0; fi`,
  )
  return {
    ...stepOf(
      { verb: 'reboot', disruption: 'restart' },
      `restart ${host}`,
      host,
      'reboot',
      [...note, command],
      ['single/boot', 'alone'],
    ),
  }
}

function stepOf(
  harm: HarmParts,
  summary: string,
  host: string,
  id: string,
  commands: readonly Command[],
  queues: readonly string[],
): Step {
  return {
    ...harmOf(harm),
    summary,
    lane: 'commands',
    host,
    queues: [`host/${host}`, ...queues],
    on: id,
    commands,
  }
}

function queuesFor(item: HostItem): readonly string[] {
  const { queues } = rulesOf(item)
  return typeof queues === 'function' ? queues(item) : (queues ?? [])
}

/** Of an undeclared item only the id and its undo commands are known: no other item writes its files. */
function queuesOf(id: string, commands: readonly Command[]): readonly string[] {
  const single = /^(?:package|apt-repository|node-exporter):/.test(id) ? 'single/apt' : 'single/undo'
  const files = commands.flatMap((one) => {
    if (one.do === 'put' || one.do === 'remove') return [`single/file${one.path}`]
    const path = editOf(one)?.path
    return path === undefined ? [] : [`single/file${path}`]
  })
  return [single, ...files]
}

export function wantedOf({ desired, key }: Resource): WantedItem {
  if (desired.type !== 'item') throw new Error(`${key} is not an item of a host`)
  return desired.item
}

export function lookOf(observed: ObservedResource): ItemDetails | undefined {
  return observed.close?.config.look as ItemDetails | undefined
}

function seenOf(observed: ObservedResource): ItemFacts {
  const look = lookOf(observed)
  const { secretSha, mark } = look ?? {}
  return seenIn(look?.answers ?? new Map(), {
    ...(secretSha === undefined ? {} : { secretSha }),
    ...(mark === undefined || mark.undo === null ? {} : { undo: mark.undo }),
  })
}

/** Fields with a person's text, which goes into files unchanged and into no command. */
const FREE: { readonly [Type in HostItemType]?: readonly string[] } = {
  // Words of a program that no shell reads; a person may name a shell there.
  command: ['run', 'unless'],
  file: ['content'],
  block: ['content'],
  line: ['line', 'match'],
  unit: ['content', 'dropIn'],
  udev: ['rules'],
  'apt-repository': ['key'],
  module: ['options'],
  user: ['keys'],
}

/**
 * Words that end up in files which other programs read with a shell: update-grub, ifup, modprobe. None may have a
 * special meaning there. Manifests have stricter rules; this covers all other ways.
 */
const MEANINGFUL = /[\u0000-\u001f\u007f$`;|&<>"'!(){}]/
/** It would leave the intended folder. */
const WAY_UP = /(?:^|\/)\.\.(?:\/|$)/
/** A line break would start another statement. Text of several lines has a separate field. */
const LINES: readonly string[] = ['line', 'match', 'options', 'keys', 'run', 'unless']

/** Returns undefined if the shell takes every word of the item literally. */
export function objectionTo(item: HostItem): Change | undefined {
  const free = FREE[item.type] ?? []
  // The name of a line or block contains its text.
  const named = item.type === 'line' ? [] : [['name', item.name] as const]
  for (const [field, value] of [...named, ...Object.entries(item.spec)]) {
    const wrong = (text: string) =>
      free.includes(field)
        ? LINES.includes(field) && /[\u0000\n\r]/.test(text)
        : MEANINGFUL.test(text) || WAY_UP.test(text)
    if (!leavesOf(value).some(wrong)) continue
    const blocked = {
      message: `${field} holds more than a word`,
      allow: 'write it without control characters, quotes, .. and signs that a shell reads',
    }
    return { ...change(field, null, null), blocked }
  }
  return undefined
}

/** Returns every text in a value, including field names. A reference to a secret is resolved elsewhere. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => [name, ...leavesOf(inner)])
  return []
}
