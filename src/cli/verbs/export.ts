import type { Declaration } from '../../model/declaration.ts'
import { type Draft, printDrafts } from '../../source/foreign/draft.ts'
import { CliError, EXIT } from '../exit.ts'
import { loadOrStop } from '../load.ts'
import { note } from '../output.ts'
import type { Verb } from '../program.ts'
import { cleanLines } from '../render/clean.ts'
import { parseSelection, type Selection } from '../select.ts'

/** What is declared, as croft understands it: real field names, one document each, in the order of their keys. */
export const run: Verb = async (runtime, [kind, name], options) => {
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
