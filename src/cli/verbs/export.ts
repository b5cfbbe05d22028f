import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { AddonDeclaration } from '../../kinds/addon/schema.ts'
import { gitopsSkeleton } from '../../kinds/addon/skeleton.ts'
import type { Declaration } from '../../model/declaration.ts'
import { type Draft, printDrafts } from '../../source/foreign/draft.ts'
import { loadOrStop } from '../load.ts'
import { note } from '../output.ts'
import { cleanLines } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { parseSelection, type Selection } from '../select.ts'
import { CliError, EXIT, type ExitCode, type Options, type Verb } from '../verb.ts'

/** Prints the declarations as croft understands them: canonical field names, one document each, sorted by key. */
export const run: Verb = async (runtime, [kind, name], options) => {
  if (kind === 'argocd' || kind === 'flux') return exportSkeleton(runtime, kind, name, options)
  const selection = parseSelection(await runtime.kinds(), kind, name, undefined)
  const directory = String(options.dir)
  const { declarations } = await loadOrStop(runtime, directory)
  const chosen = declarations.filter((one) => isChosen(one, selection)).sort((a, b) => (a.key < b.key ? -1 : 1))
  if (chosen.length === 0 && selection.kind !== undefined) {
    const what = selection.name === undefined ? selection.kind : `${selection.kind}/${selection.name}`
    throw new CliError(`There is no ${what} in ${directory}. Run croft get to see what there is.`)
  }
  if (chosen.length === 0) note(runtime, `Nothing is declared in ${directory}.`)
  const text = printDrafts(chosen.map(draftOf))
  runtime.out.write(runtime.out.isTty ? cleanLines(text, Number.POSITIVE_INFINITY) : text)
  return EXIT.ok
}

/** Exports a repository for another agent. Existing files are not overwritten. */
async function exportSkeleton(
  runtime: Runtime,
  to: 'argocd' | 'flux',
  target: string | undefined,
  { dir, repository }: Options,
): Promise<ExitCode> {
  if (target === undefined) throw new CliError(`Say where to write it: croft export ${to} some/directory.`)
  const { declarations, estate } = await loadOrStop(runtime, String(dir))
  const addons = declarations.filter((one) => one.kind === 'Addon') as readonly AddonDeclaration[]
  if (addons.length === 0) throw new CliError(`No Addon is declared in ${String(dir)}.`)
  const url = typeof repository === 'string' ? repository : 'https://git.example.org/clusters'
  const files = gitopsSkeleton(to, addons, estate.resources, url, {
    declaration: (kind, called) => declarations.find((one) => one.kind === kind && one.name === called),
  })
  const place = (file: string) => path.resolve(runtime.cwd, target, file)
  // Check all files before writing one, so that no half repository is left.
  const there = files.find(({ path: file }) => existsSync(place(file)))
  if (there !== undefined)
    throw new CliError(`${path.join(target, there.path)} is there already. Nothing is overwritten.`)
  for (const { path: file, objects = [], text } of files) {
    mkdirSync(path.dirname(place(file)), { recursive: true })
    const content =
      text ?? printDrafts(objects.map((object) => ({ manifest: object as unknown as Draft['manifest'], comments: [] })))
    writeFileSync(place(file), content, { flag: 'wx' })
    runtime.out.write(`${path.join(target, file)}\n`)
  }
  return EXIT.ok
}

function isChosen(one: Declaration, { kind, name }: Selection): boolean {
  if (kind !== undefined && one.kind !== kind) return false
  return name === undefined || one.name === name || `${one.namespace}/${one.name}` === name
}

function draftOf({ apiVersion, kind, name, namespace, labels, annotations, spec }: Declaration): Draft {
  return {
    manifest: {
      apiVersion,
      kind,
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      },
      spec,
    },
    comments: [],
  }
}
