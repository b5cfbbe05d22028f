import type { Connection } from '../../../model/estate.ts'
import type { Resource } from '../../../model/resource.ts'
import { setUpCommands } from './commands.ts'
import { grantsOf } from './grants.ts'
import { type NeedOptions, needsOf } from './needs.ts'

const YEAR_MS = 365 * 86_400_000

/** Returns the commands for the smallest role and a token with it for a year. Calls no API. */
export function leastRole(
  connection: Connection,
  resources: readonly Resource[],
  options: { readonly nowMs: number } & Pick<NeedOptions, 'major' | 'entered'>,
): readonly string[] {
  const { nowMs, ...more } = options
  const { needs } = needsOf(resources, { connection, ...more })
  const who = { user: 'croft@pve', token: connection.estate === 'default' ? 'croft' : connection.estate }
  return setUpCommands(grantsOf(needs), who, rolePrefix(connection), Math.floor((nowMs + YEAR_MS) / 1000))
}

/** Two estates on one system have separate roles. */
export function rolePrefix({ estate }: Pick<Connection, 'estate'>): string {
  return estate === 'default' ? 'croft' : `croft-${estate}`
}
