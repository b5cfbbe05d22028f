import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Connection, Estate } from '../../model/estate.ts'
import type { Site } from '../../model/site.ts'
import { realDirectory } from '../../state/state-file.ts'
import { loadOrStop } from '../load.ts'
import { note, styleOf } from '../output.ts'
import { countProblems, renderProblems } from '../render/problems.ts'
import type { Runtime } from '../runtime.ts'
import { CliError } from '../verb.ts'
import { readSiteFile } from './site-file.ts'
import { siteOfEstate } from './site-of-estate.ts'

/** A site for the simulator to copy, and the manifests that it comes from. */
export interface LikedSite {
  readonly site: Site
  /** Returns the form in which to print a file of the site. */
  shown(file: string): string
  readonly manifests?: LikedManifests
}

export interface LikedManifests {
  readonly directory: string
  readonly estate: Estate
  readonly connection: Connection
}

/** Reads what `--like` names: a directory of manifests, or a file that lists hosts. */
export async function readLiked(runtime: Runtime, place: string, connection?: string): Promise<LikedSite> {
  const real = path.resolve(runtime.cwd, place)
  if (statSync(real, { throwIfNoEntry: false })?.isFile() === true) {
    const read = readSiteFile(readFileSync(real, 'utf8'), place)
    if ('site' in read) return { site: read.site, shown: (file) => file }
    note(runtime, renderProblems(read.problems, styleOf(runtime, runtime.err)))
    throw new CliError(
      `${countProblems(read.problems)} in ${place}; nothing was started. Correct the places named above.`,
    )
  }
  const { estate, declarations } = await loadOrStop(runtime, place)
  const chosen = connectionIn(estate, place, connection)
  return {
    site: siteOfEstate(estate, declarations, chosen.name),
    shown: (file) => path.join(place, file),
    manifests: { directory: realDirectory(runtime, place), estate, connection: chosen },
  }
}

/** Returns the only connection to Proxmox, or the chosen one: a simulator is one datacentre. */
function connectionIn({ connections }: Estate, place: string, wanted: string | undefined): Connection {
  const all = connections.filter(({ driver }) => driver === 'proxmox')
  const named = wanted === undefined ? all : all.filter(({ name }) => name === wanted)
  const [only, second] = named
  const listed = all.map(({ name, origin }) => `${name} (${path.join(place, origin.file)}:${origin.line})`).join(', ')
  if (only === undefined) {
    if (all.length > 0) throw new CliError(`There is no Proxmox connection ${wanted} in ${place}. Declared: ${listed}.`)
    throw new CliError(
      `There is no Proxmox connection in ${place}. Declare one (kind Proxmox), or name a file that lists hosts.`,
    )
  }
  if (second !== undefined)
    throw new CliError(
      `${place} has several Proxmox connections, and a simulator is one datacentre: ${listed}. Choose one with --connection.`,
    )
  return only
}
