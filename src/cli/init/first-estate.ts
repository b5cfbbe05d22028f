import path from 'node:path'
import { shellWord } from '../../lib/shell-quoted.ts'
import { runGit } from '../../source/git/git-run.ts'
import { note } from '../output.ts'
import { renderRoles } from '../render/doctor.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError } from '../verb.ts'
import { leastRoles } from '../verbs/doctor.ts'
import { writeCluster } from './cluster.ts'
import { writeConnection } from './connection.ts'
import type { InitPlace } from './files.ts'

/**
 * Writes the missing parts of a first estate: the connection, then the ground and a cluster. Starts only with flags or
 * a person's consent, and continues where an earlier run ended.
 */
export async function writeFirstEstate(runtime: Runtime, place: InitPlace): Promise<void> {
  const mayAsk = runtime.interactive && place.options.yes !== true
  let loaded = await runtime.load(place.real)
  const declared = loaded.estate.connections.filter(({ driver }) => driver === 'proxmox').map(({ name }) => name)
  if (declared.length === 0) {
    if (!(await writeConnection(runtime, place, loaded, mayAsk))) return
    loaded = await runtime.load(place.real)
  } else if (place.options.proxmox !== undefined)
    throw new CliError(
      `${place.directory} declares the connection ${declared.join(', ')} already. Leave out --proxmox.`,
    )
  if (await writeCluster(runtime, place, loaded, mayAsk)) await closing(runtime, place)
  else if (declared.length === 0) sayHowToGoOn(runtime, shellWord(place.directory))
}

function sayHowToGoOn(runtime: Runtime, word: string): void {
  runtime.out.write(`
Next:
  croft init ${word} --cluster NAME --addresses FROM-TO   writes a first cluster
  croft import proxmox ${word} --all                      prints manifests of the guests that are there
`)
}

/** Prints the next steps, with the exact rights that the token needs. */
async function closing(runtime: Runtime, { directory, real }: InitPlace): Promise<void> {
  const { estate } = await runtime.load(real)
  const word = shellWord(directory)
  if (hasErrors(estate.problems))
    note(runtime, `${countProblems(estate.problems)} in ${directory}. Run croft validate ${word} to see them.`)
  await beginRepository(runtime, directory, real)
  const { drivers } = await runtime.openDrivers({ directory: real })
  const roles = await leastRoles(estate, drivers, { nowMs: runtime.clock.now(), major: 9 })
  runtime.out.write(`
Next:
  croft plan ${word}      shows every machine and every step, and changes nothing
  croft apply ${word}     performs it until the cluster is ready

A token with only the privileges that these manifests need:
${renderRoles(roles)}`)
}

/** A directory that is in no repository becomes one. Committing is left to the person. */
async function beginRepository(runtime: Runtime, directory: string, real: string): Promise<void> {
  const inside = await runGit({ directory: real, arguments: ['rev-parse', '--git-dir'] }).then(
    () => true,
    () => false,
  )
  if (inside) return
  try {
    await runGit({ directory: real, arguments: ['init', '--quiet', '--initial-branch', 'main'] })
  } catch (error) {
    note(runtime, `No Git repository was made: ${clean(error instanceof Error ? error.message : String(error))}`)
    return
  }
  await runtime.writeFile?.(path.join(real, '.gitignore'), 'kubeconfig\nsim.env\n')
  const git = `git -C ${shellWord(directory)}`
  note(runtime, `Made a Git repository. Commit what is in it: ${git} add . && ${git} commit -m "A first cluster"`)
}
