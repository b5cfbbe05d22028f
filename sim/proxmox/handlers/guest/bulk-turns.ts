import { parseProperties } from '../../../world/properties.ts'
import type { Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { ApiError } from '../../api-error.ts'
import type { Call } from '../../call.ts'

/** When a guest's turn comes, and how long it is waited for in either direction, in seconds. */
export interface Turn {
  readonly guest: Guest
  readonly order: number
  readonly up: number | undefined
  readonly down: number | undefined
}

/** Guests in the order in which they are started; those without an order come last. */
export function turnsOf(guests: readonly Guest[]): Turn[] {
  return guests.map(turnOf).sort((a, b) => a.order - b.order || a.guest.vmid - b.guest.vmid)
}

/** The last order first; within one order it stays as it is. */
export function turnsDown(guests: readonly Guest[]): Turn[] {
  return guests.map(turnOf).sort((a, b) => b.order - a.order || a.guest.vmid - b.guest.vmid)
}

function turnOf(guest: Guest): Turn {
  const { named, main } = parseProperties(guest.config.get('startup') ?? '', 'order')
  const seconds = (name: string) => {
    const text = named.get(name)
    return text === undefined ? undefined : Number(text)
  }
  return {
    guest,
    order: main === '' ? Number.MAX_SAFE_INTEGER : Number(main),
    up: seconds('up'),
    down: seconds('down'),
  }
}

/** What became of a guest's task; undefined for one that could not even begin. */
export type TurnEnded = (turn: Turn, exit: string | undefined) => void | Promise<void>

/**
 * Begins a task for each guest, so many at a time, and waits for all of one order before those of the next. A guest that
 * needs no task begins none; one that is refused does not stop the others.
 */
export async function workThrough(
  work: Work,
  call: Call,
  turns: readonly Turn[],
  workers: number,
  begin: (turn: Turn) => string | undefined | Promise<string | undefined>,
  ended: TurnEnded = () => {},
  refused: (error: ApiError) => void = ({ message }) => work.log(message),
): Promise<void> {
  const running = new Map<string, Turn>()
  const finish = async () => {
    for (const [upid, turn] of running) {
      const exit = call.world.hosts.get(upid.split(':')[1] ?? '')?.tasksById.get(upid)?.exit
      if (exit === undefined) continue
      running.delete(upid)
      await ended(turn, exit)
    }
  }
  const waitUntil = async (fewer: number) => {
    for (await finish(); running.size >= fewer; await finish()) await work.pass(1000)
  }
  let order: number | undefined
  for (const turn of turns) {
    if (order !== turn.order) await waitUntil(1)
    order = turn.order
    try {
      const upid = await begin(turn)
      if (upid !== undefined) running.set(upid, turn)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused(error)
      await ended(turn, undefined)
    }
    await waitUntil(Math.max(1, workers))
  }
  await waitUntil(1)
}
