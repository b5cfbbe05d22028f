import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Outcome } from '../../model/step.ts'
import { type GuestSnapshot, type GuestSnapshots, ObservationFailed } from '../port.ts'
import type { Api } from './api.ts'
import { cleanText, countOf, isRecord, recordsOf } from './foreign.ts'
import { uidOfTags } from './marks.ts'
import { guestPath } from './steps.ts'
import { powerState } from './survey.ts'
import { taskOutcome } from './tasks.ts'

/** Proxmox's form of a name; `current` means the present state. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{1,39}$/

/** Proxmox's snapshots of machines and containers: disks and configuration, without memory. */
export function snapshotsOf(api: Api, clock: Clock): GuestSnapshots {
  const write = async (
    method: 'POST' | 'DELETE',
    observed: ObservedResource,
    below: string,
    params: Readonly<Record<string, string>>,
    doing: string,
    signal: AbortSignal,
  ): Promise<Outcome> => {
    const { externalId: guest, host } = observed
    const call = { method, path: `${pathOf(observed)}${below}`, params }
    const outcome = await api.write(call, new Map(), { doing: `${doing} on ${host}`, host, guest }, signal)
    return outcome.result === 'started' ? awaitTask(api, clock, outcome.taskId, doing, signal) : outcome
  }

  return {
    async list(observed, signal) {
      const { externalId: guest, host } = observed
      const about = { doing: `list the snapshots of ${wordsFor(observed)} on ${host}`, host, guest }
      const rows = recordsOf(await api.read(pathOf(observed), about, signal)).slice(0, LIMITS.surveyEntries)
      const present = rows.find(({ name }) => name === 'current')
      return rows.flatMap((row): readonly GuestSnapshot[] => {
        if (typeof row.name !== 'string' || row === present) return []
        const seconds = countOf(row.snaptime)
        return [
          {
            name: cleanText(row.name, LIMITS.foreignNameLength),
            current: present?.parent === row.name,
            ...(seconds === undefined || seconds === 0 ? {} : { createdMs: seconds * 1000 }),
          },
        ]
      })
    },
    take: async (observed, name, signal) =>
      unfit(name) ??
      write('POST', observed, '', { snapname: name }, `take snapshot ${name} of ${wordsFor(observed)}`, signal),
    revert: async (observed, name, signal) => {
      const doing = `bring ${wordsFor(observed)} back to snapshot ${name}`
      try {
        const refusal = unfit(name) ?? (await foreign(api, observed, name, signal))
        if (refusal !== undefined) return refusal
        // A guest that ran must run afterwards: by default Proxmox leaves it off.
        const start: Readonly<Record<string, string>> = (await runs(api, observed, signal)) ? { start: '1' } : {}
        return await write('POST', observed, `/${name}/rollback`, start, doing, signal)
      } catch (error) {
        if (error instanceof ObservationFailed) return { result: 'refused', refusal: error.refusal }
        throw error
      }
    },
    remove: async (observed, name, signal) =>
      unfit(name) ??
      write('DELETE', observed, `/${name}`, {}, `remove snapshot ${name} of ${wordsFor(observed)}`, signal),
  }
}

function pathOf({ host, externalId, type }: ObservedResource): string {
  return `${guestPath(host, type === 'container' ? 'container' : 'vm', externalId)}/snapshot`
}

function wordsFor({ type, externalId }: ObservedResource): string {
  return `${type === 'container' ? 'container' : 'VM'} ${externalId}`
}

function refused(reason: string, message: string): Outcome {
  return { result: 'refused', refusal: { reason, meaning: 'stalled', message } }
}

function unfit(name: string): Outcome | undefined {
  if (NAME.test(name) && name !== 'current' && name !== 'pending') return undefined
  return refused(
    'BadName',
    `Proxmox takes no snapshot called ${cleanText(name)}: a letter, then 1 to 39 letters, digits, dashes or underscores, and neither current nor pending`,
  )
}

/**
 * A rollback also restores the tags of that time. From before the machine was ours it would lose our mark, and the next
 * plan would see a foreign guest in place of a missing machine.
 */
async function foreign(
  api: Api,
  observed: ObservedResource,
  name: string,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { externalId: guest, host, mark } = observed
  const about = { doing: `look at snapshot ${name} of ${wordsFor(observed)} on ${host}`, host, guest }
  const config = await api.read(`${pathOf(observed)}/${name}/config`, about, signal)
  const uid = isRecord(config) ? uidOfTags(config.tags) : undefined
  if (mark === undefined || uid === mark.uid) return undefined
  return refused(
    'NotOurs',
    `snapshot ${name} of ${wordsFor(observed)} was taken before it was marked as ours; after going back croft would not know it. Take a new one, or go back with the tools of the host and adopt it again`,
  )
}

async function runs(api: Api, observed: ObservedResource, signal: AbortSignal): Promise<boolean> {
  const { externalId: guest, host } = observed
  const type = observed.type === 'container' ? 'container' : 'vm'
  const about = { doing: `ask whether ${wordsFor(observed)} on ${host} runs`, host, guest }
  const status = await api.read(`${guestPath(host, type, guest)}/status/current`, about, signal)
  return isRecord(status) && powerState(status.status) === 'running'
}

/** Polls until it has ended, since a person waits for it. */
async function awaitTask(api: Api, clock: Clock, taskId: string, doing: string, signal: AbortSignal): Promise<Outcome> {
  const untilMs = clock.monotonicMs() + LIMITS.snapshotMs
  while (clock.monotonicMs() < untilMs && !signal.aborted) {
    try {
      const task = await taskOutcome(api, taskId, signal)
      if (task?.state === 'succeeded') return { result: 'done' }
      if (task?.state === 'failed')
        return 'refusal' in task && task.refusal !== undefined
          ? { result: 'refused', refusal: task.refusal }
          : refused('TaskFailed', `could not ${doing}: ${task.message ?? 'the task failed'}`)
      if (task === undefined) return { result: 'unclear', message: `the outcome of the task to ${doing} is unknown` }
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
    }
    await clock.sleep(LIMITS.taskPollMs, signal)
  }
  return { result: 'unclear', message: `the task to ${doing} continues by itself; croft did not wait for it` }
}
