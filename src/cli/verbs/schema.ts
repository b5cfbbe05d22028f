import { EXIT } from '../exit.ts'
import { writeJson } from '../output.ts'
import type { Verb } from '../program.ts'
import { findKind } from '../select.ts'

export const run: Verb = async (runtime, [asked]) => {
  const kind = asked === undefined ? undefined : findKind(await runtime.kinds(), asked)
  writeJson(runtime.out, await runtime.jsonSchema(kind))
  return EXIT.ok
}
