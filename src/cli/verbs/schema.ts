import { definedKind } from '../defined-kind.ts'
import { writeJson, writeYaml } from '../output.ts'
import { findKind } from '../select.ts'
import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [asked], options) => {
  if (options.crds === true) {
    if (asked !== undefined) throw new UsageError('--crds prints all definitions. Leave the kind out.')
    if (runtime.definitions === undefined) throw new CliError('This croft has no definitions.')
    for (const definition of await runtime.definitions()) {
      runtime.out.write('---\n')
      await writeYaml(runtime.out, definition)
    }
    return EXIT.ok
  }
  const defined =
    asked === undefined ? undefined : await definedKind(runtime, await runtime.kinds(), asked, options.dir)
  if (defined !== undefined) {
    writeJson(runtime.out, defined.schema)
    return EXIT.ok
  }
  const kind = asked === undefined ? undefined : findKind(await runtime.kinds(), asked)
  writeJson(runtime.out, await runtime.jsonSchema(kind))
  return EXIT.ok
}
