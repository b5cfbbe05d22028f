import { readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CliError, UsageError } from '../cli/verb.ts'
import type { ControllerConfig } from '../controller/config.ts'
import { systemClock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Revision } from '../source/git/revision.ts'
import { chartsToKeep } from './charts.ts'

/**
 * Reads the declarations of a directory. A file in its place is a configuration of `croft run`: its sources are merged,
 * each with its grant, so that a command sees what the controller would.
 */
export async function revisionAt(place: string): Promise<Revision> {
  return (await sourcesAt(place)).revision
}

/** Also returns the configuration, which says whose keys open which files. */
export async function sourcesAt(
  place: string,
): Promise<{ readonly revision: Revision; readonly config?: ControllerConfig }> {
  if (statSync(place).isFile()) return configured(place)
  const [{ readTree }, { cacheDirectory }, { createCommandReader }] = await Promise.all([
    import('../source/read-tree.ts'),
    import('../state/state-file.ts'),
    import('../source/apart/command-reader.ts'),
  ])
  const cacheDir = cacheDirectory(process.env)
  return { revision: await readTree(place, { reader: createCommandReader(systemClock), ...defined({ cacheDir }) }) }
}

/** Reports whether a text is a manifest rather than a configuration. */
function isManifest(text: string): boolean {
  return /^\s*"?apiVersion"?\s*:/m.test(text) && /^\s*"?kind"?\s*:/m.test(text)
}

async function configured(file: string) {
  const [
    { yamlLibrary },
    { ConfigError, readConfig },
    { openSources },
    { mergeRevisions },
    secrets,
    { cacheDirectory },
    { createWorkerReader },
  ] = await Promise.all([
    import('../lib/yaml-library.ts'),
    import('../controller/config.ts'),
    import('../controller/sources/open-sources.ts'),
    import('../controller/sources/merge.ts'),
    import('../state/secrets.ts'),
    import('../state/state-file.ts'),
    import('../source/apart/reader.ts'),
  ])
  // A large foreign file may be named by mistake: parsing it as a configuration would take minutes.
  if (statSync(file).size > LIMITS.configurationBytes)
    throw new UsageError(
      `${file} is a file with more than ${LIMITS.configurationBytes} bytes and no configuration of croft run. Name the directory that holds the manifests, or see docs/run.md.`,
    )
  const config = (() => {
    try {
      return readConfig(yamlLibrary().parse(readFileSync(file, 'utf8')), {}, {})
    } catch (error) {
      const text = readFileSync(file, 'utf8')
      if (!/^\s*[^\s#]/m.test(text.replaceAll(/^(?:---|\.\.\.)\s*$/gm, '')))
        throw new UsageError(`${file} is empty: it declares nothing. Write a manifest into it, or name its directory.`)
      if (isManifest(text))
        throw new UsageError(
          `${file} is a manifest, and croft works on the whole directory that it lies in. Name that: ${path.dirname(file)}`,
        )
      if (!(error instanceof ConfigError) || !/^sources:/m.test(text))
        throw new UsageError(
          `${file} is a file, not a directory, and neither a manifest (it has no apiVersion and kind) nor a configuration of croft run (it has no sources). Name the directory that holds the manifests.`,
        )
      throw new UsageError(
        `${file} is a file and no configuration of croft run:\n${error.message}\nName the directory that holds the manifests, or see docs/run.md.`,
      )
    }
  })()
  const cwd = process.cwd()
  const places = { env: process.env, directory: cwd, warn: () => {} }
  const sources = openSources(config.sources, {
    data: cacheDirectory(process.env) ?? path.join(tmpdir(), `croft-${process.getuid?.() ?? 0}`),
    cwd,
    resolveSecret: (reference) => secrets.resolveSecret(reference, places),
    chart: chartsToKeep(process.env),
    reader: () => createWorkerReader({ clock: systemClock }),
  })
  const inForce = await Promise.all(
    sources.map(async ({ name, grant, open }) => {
      const seen = await open({ mayReturnTo: () => false }).look(new AbortController().signal)
      if (seen.is !== 'new')
        throw new CliError(
          `The source ${name} cannot be read: ${seen.is === 'kept' ? seen.message : 'nothing is there'}.`,
        )
      return { source: name, revision: seen.revision, ...(grant === undefined ? {} : { grant }) }
    }),
  )
  return { revision: mergeRevisions(inForce), config }
}
