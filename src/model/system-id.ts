import { defined } from '../lib/defined.ts'

/** What tells an outside system from every other, by the name of the fact: `host uuid`, `machine-id`. */
export type SystemId = Readonly<Record<string, string>>

/** The identity of the system that a connection leads to, as far as it was read. */
export type SystemReading =
  | { readonly is: 'seen'; readonly id: SystemId }
  | { readonly is: 'unread'; readonly why: string; readonly id?: SystemId }

/**
 * Compares a recorded system with the one that a connection leads to. All facts must agree for the same system, and all must
 * differ for another one: a host that was installed again and two hosts with one image look alike in a part of them.
 */
export function compareSystems(was: SystemId, is: SystemReading | undefined): 'same' | 'other' | 'unknown' {
  const now = is?.id ?? {}
  const names = [...new Set([...Object.keys(was), ...Object.keys(now)])]
  const same = names.filter((name) => was[name] === now[name]).length
  const isWhole = names.every((name) => was[name] !== undefined && now[name] !== undefined)
  if (!isWhole) return 'unknown'
  return same === names.length ? 'same' : same === 0 ? 'other' : 'unknown'
}

export function systemText(id: SystemId): string {
  return Object.entries(id)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

/** The fact of the hardware, which makers give to a whole series of boards at times. */
export const HOST_UUID = 'host uuid'

/** Takes out each host UUID that several connections show while their other facts differ: it identifies none of them. */
export function withoutShared<Look extends { readonly connection: string; readonly system?: SystemReading }>(
  surveys: readonly Look[],
): readonly Look[] {
  const byUuid = new Map<string, { readonly connection: string; readonly text: string }[]>()
  for (const { connection, system } of surveys) {
    const uuid = system?.id?.[HOST_UUID]
    if (system?.id === undefined || uuid === undefined) continue
    byUuid.set(uuid, [...(byUuid.get(uuid) ?? []), { connection, text: systemText(system.id) }])
  }
  return surveys.map((survey) => {
    const { [HOST_UUID]: uuid, ...rest } = survey.system?.id ?? {}
    const all = uuid === undefined ? [] : (byUuid.get(uuid) ?? [])
    const own = all.find(({ connection }) => connection === survey.connection)
    const others = all.filter(({ text }) => text !== own?.text)
    if (others.length === 0) return survey
    const why = `host uuid ${uuid} is also that of ${others.map(({ connection }) => connection).join(', ')}, which has another machine-id`
    return { ...survey, system: { is: 'unread', why, ...defined({ id: rest }) } }
  })
}
