import { definedKind } from '../defined-kind.ts'
import { styleOf } from '../output.ts'
import { renderExplanation } from '../render/explain.ts'
import { renderTable } from '../render/table.ts'
import { findKind } from '../select.ts'
import { EXIT, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [asked], options) => {
  const kinds = await runtime.kinds()
  const style = styleOf(runtime, runtime.out)
  if (asked === undefined) {
    const rows = kinds.map((kind) => [kind.kind, kind.shortNames.join(','), kind.apiVersion, kind.summary])
    const columns = ['KIND', 'SHORT', 'APIVERSION', 'SUMMARY'].map((title) => ({ title, max: 200 }))
    runtime.out.write(renderTable(columns, rows, style))
    return EXIT.ok
  }
  const [word = '', ...path] = asked.split('.')
  const defined = await definedKind(runtime, kinds, word, options.dir)
  if (defined !== undefined) {
    runtime.out.write(renderExplanation(defined, defined.schema, style, path))
    return EXIT.ok
  }
  const name = findKind(kinds, word)
  const kind = kinds.find((one) => one.kind === name)
  if (kind !== undefined) runtime.out.write(renderExplanation(kind, await runtime.jsonSchema(name), style, path))
  return EXIT.ok
}
