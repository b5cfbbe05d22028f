import { actorName } from '../../lib/actor-name.ts'
import type { CommitDiff } from '../../model/commit-diff.ts'
import type { EstateView, ResourceView } from '../../model/estate-view.ts'
import type { PowerView } from '../../model/observed-power.ts'
import type { CroftEvent, NewEvent } from '../../model/record.ts'
import type { Actor, Controller, Granted, Wish } from '../port.ts'
import { type FakeConsoles, fakeConsoles } from './fake-consoles.ts'
import { COMMIT, NOW } from './fake-moment.ts'
import { fakePreview, goingOff, tiers } from './fake-power.ts'
import { type FakeWorkloads, fakeWorkloads } from './fake-workloads.ts'

/** A controller for tests of the server and the page: a view that tests change, wishes that take effect at once. */
export interface FakeController extends Controller {
  readonly asked: { readonly wish: Wish; readonly actor: Actor }[]
  readonly poked: string[]
  set(
    change: (view: EstateView) => Partial<EstateView>,
    events?: readonly Omit<NewEvent, 'atMs'>[],
    atMs?: number,
  ): void
  setReady(ready: boolean): void
  manifests: Record<string, string>
  readonly workloads: FakeWorkloads
  readonly consoles: FakeConsoles
}

export function fakeController(first: EstateView, history: readonly NewEvent[] = storyEvents()): FakeController {
  let view = first
  let ready = true
  let events: CroftEvent[] = history.map((event, index) => ({ ...event, seq: index + 1 }))
  const listeners = new Set<(view: EstateView, events: readonly CroftEvent[]) => void>()

  const controller: FakeController = {
    asked: [],
    poked: [],
    manifests: {},
    workloads: fakeWorkloads(),
    consoles: fakeConsoles((key) => view.resources.some((one) => one.key === key && one.kind === 'Machine')),
    view: () => view,
    ready: () => ready,
    setReady(now) {
      ready = now
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set(change, happened = [], atMs = NOW) {
      view = { ...view, ...change(view), version: view.version + 1, atMs }
      const fresh = happened.map((event, index) => ({ ...event, atMs, seq: events.length + index + 1 }))
      events = [...events, ...fresh]
      for (const listener of listeners) listener(view, fresh)
    },
    history: async ({ key, commit, afterSeq, beforeSeq, limit }) =>
      events
        .filter(
          (event) =>
            (key === undefined || event.key === key) &&
            (commit === undefined || event.commit === commit) &&
            (afterSeq === undefined || event.seq > afterSeq) &&
            (beforeSeq === undefined || event.seq < beforeSeq),
        )
        .slice(-limit),
    powerPreview(target, state) {
      const power = view.power?.find(({ name }) => name === target)
      return power === undefined ? undefined : fakePreview(state, power)
    },
    manifest: async (key) => controller.manifests[key] ?? exampleManifest(view, key),
    commitDiff: async (source, commit) => (commit.startsWith('1f2e3d4') ? fakeDiff(source, commit) : undefined),
    observed: () => undefined,
    kubeconfigs: {
      make: async (cluster, lifeMs) =>
        view.clusters.some(({ name }) => name === cluster)
          ? { yaml: `apiVersion: v1\nkind: Config\n# ${cluster}: canary-of-a-key\n`, untilMs: NOW + lifeMs }
          : undefined,
    },
    poke: (source) => void controller.poked.push(source),
    async ask(wish, actor) {
      controller.asked.push({ wish, actor })
      return fulfil(controller, wish, actor)
    },
  }
  return controller
}

/** The view with one resource changed. */
export function withResource(
  view: EstateView,
  key: string,
  change: (one: ResourceView) => ResourceView,
): Pick<EstateView, 'resources'> {
  return { resources: view.resources.map((one) => (one.key === key ? change(one) : one)) }
}

function fulfil(controller: FakeController, wish: Wish, actor: Actor): Granted {
  const { resources } = controller.view()
  const known = (key: string) => resources.some((one) => one.key === key)
  const by = `by ${actor.name}`
  switch (wish.wish) {
    case 'approve': {
      if (!wish.keys.every(known)) return { ok: false, reason: 'not-found', message: 'There is no such resource.' }
      controller.set(
        (view) => ({
          resources: view.resources.map((one) =>
            wish.keys.includes(one.key) && one.action.do === 'hold'
              ? { ...one, status: 'Deleting', action: { ...one.action.held, reason: `approved ${by}` } }
              : one,
          ),
        }),
        wish.keys.map((key) => ({ key, type: 'Normal', reason: 'Approved', message: `approved ${by}` })),
      )
      return { ok: true, message: `${wish.keys.length} approved for an hour.` }
    }
    case 'adopt-drift':
      controller.set(
        (view) => ({ drifts: view.drifts.filter((one) => one.key !== wish.key) }),
        [{ key: wish.key, type: 'Normal', reason: 'Adopted', message: `Git is made to agree ${by}` }],
      )
      return {
        ok: true,
        message: 'Committed on the branch croft/adopt-drift.',
        link: 'https://git.lan/homelab/compare/croft/adopt-drift',
      }
    case 'revert-drift':
      controller.set((view) => ({ drifts: view.drifts.filter((one) => one.key !== wish.key) }))
      return { ok: true, message: 'It will be put back.' }
    case 'suspend':
    case 'resume':
      if (!known(wish.key)) return { ok: false, reason: 'not-found', message: 'There is no such resource.' }
      controller.set((view) => withResource(view, wish.key, (one) => ({ ...one, paused: wish.wish === 'suspend' })))
      return {
        ok: true,
        message: wish.wish === 'suspend' ? 'It is left alone from now on.' : 'It is taken care of again.',
      }
    case 'cluster':
      controller.set((view) => ({
        clusters: view.clusters.map((one) =>
          one.name === wish.cluster
            ? {
                ...one,
                observed: {
                  ...one.observed,
                  requests: { ...one.observed.requests, rolloutPaused: wish.order === 'pause' },
                },
              }
            : one,
        ),
      }))
      return { ok: true, message: `${wish.order} is noted.` }
    case 'reconcile':
      controller.set(() => ({}), [{ type: 'Normal', reason: 'Asked', message: `a look was asked for ${by}` }])
      return { ok: true, message: 'Looking now.' }
    case 'power':
      return switched(controller, wish, actor)
  }
}

function switched(controller: FakeController, wish: Extract<Wish, { wish: 'power' }>, actor: Actor): Granted {
  const { target, order, reason, untilMs } = wish
  if (controller.view().power?.some(({ name }) => name === target) !== true)
    return { ok: false, reason: 'not-found', message: `there is no Power ${target}` }
  const by = actorName(actor.name)
  const why = `asked by ${by}${reason === undefined ? '' : `: ${reason}`}`
  const hold = { by, why: reason ?? '', sinceMs: NOW, untilMs: untilMs ?? NOW + 3_600_000 }
  const changes: Readonly<Record<typeof order, Partial<PowerView>>> = {
    off: { ...goingOff(0), wanted: { state: 'off', sinceMs: NOW, why } },
    on: {
      phase: 'PoweringOn',
      wanted: { state: 'on', sinceMs: NOW, why },
      tiers: tiers('on', 0),
      doing: [],
      waits: [],
    },
    hold: { held: [hold] },
    release: { held: [] },
  }
  controller.set((view) => ({
    power: (view.power ?? []).map((one) => (one.name === target ? { ...one, ...changes[order] } : one)),
  }))
  const held = `${target} stays as it is for an hour`
  return {
    ok: true,
    message: order === 'hold' ? held : order === 'release' ? 'held no longer' : `${target} will be switched ${order}`,
  }
}

function fakeDiff(source: string, commit: string): CommitDiff {
  return {
    source,
    commit,
    before: COMMIT,
    more: 0,
    files: [
      {
        path: 'machines/fawn.yaml',
        change: 'changed',
        keys: ['Machine/k3s-vm-still-fawn'],
        lines: [
          { sign: '…', text: '' },
          { sign: ' ', text: '  cpu: 4', line: 6 },
          { sign: '-', text: '  memory: 8Gi', line: 7 },
          { sign: '+', text: '  memory: 16Gi', line: 7 },
          { sign: ' ', text: '  disk: 50Gi', line: 8 },
        ],
      },
      {
        path: 'secrets/machines.yaml',
        change: 'changed',
        keys: [],
        lines: [],
        note: 'it is encrypted with SOPS: its lines are not shown',
      },
      {
        path: 'machines/bedbug.yaml',
        change: 'removed',
        keys: [],
        lines: [{ sign: '-', text: 'kind: Machine', line: 1 }],
      },
    ],
  }
}

function exampleManifest(view: EstateView, key: string): string | undefined {
  const one = view.resources.find((resource) => resource.key === key)
  if (one === undefined) return undefined
  return `apiVersion: croft.dev/v1alpha1
kind: ${one.kind}
metadata:
  name: ${one.name}
spec:
  host: ${one.host ?? ''}
  cpu: 4
  memory: 8Gi
  disk: 50Gi
  network: lan
  password:
    sops: secrets/machines.yaml   # ***
`
}

/** A day of an ordinary estate: a third server joined yesterday, memory was raised today. */
export function storyEvents(): readonly NewEvent[] {
  const bedbug = 'Machine/k3s-vm-fun-bedbug'
  const fawn = 'Machine/k3s-vm-still-fawn'
  const first = NOW - 26 * 3_600_000
  const second = NOW - 3 * 3_600_000
  const older = '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432'
  const tell = (key: string, atMs: number, reason: string, message: string, commit: string): NewEvent => ({
    atMs,
    key,
    type: reason === 'Locked' ? 'Warning' : 'Normal',
    reason,
    message,
    commit,
  })
  return [
    tell(bedbug, first + 900, 'Started', 'create VM 114 on fun-bedbug', older),
    tell(bedbug, first + 11_200, 'Done', 'create VM 114 on fun-bedbug', older),
    tell(bedbug, first + 11_300, 'Started', 'grow scsi0 of VM 114 to 50 GiB', older),
    tell(bedbug, first + 12_600, 'Done', 'grow scsi0 of VM 114 to 50 GiB', older),
    tell(bedbug, first + 12_700, 'Started', 'start VM 114 on fun-bedbug', older),
    tell(bedbug, first + 14_900, 'Done', 'start VM 114 on fun-bedbug', older),
    tell(bedbug, first + 43_000, 'Ready', 'running, agent up', older),
    tell(fawn, second + 500, 'Started', 'set memory of VM 109 to 8192', COMMIT),
    tell(fawn, second + 900, 'Done', 'set memory of VM 109 to 8192', COMMIT),
    tell(fawn, second + 1_000, 'Started', 'restart VM 109', COMMIT),
    tell(fawn, second + 9_400, 'Done', 'restart VM 109', COMMIT),
    tell(fawn, second + 31_000, 'Ready', 'running, agent up', COMMIT),
  ]
}
