import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findCommand } from '../scripts/packages.ts'

/** Where one that was built from its sources may be kept. */
const BUILT = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft', 'helm')

/** The Helm of this computer, where it has one: Debian has no package of it. */
export const HELM: string | undefined = findCommand('helm') ?? (existsSync(BUILT) ? BUILT : undefined)
