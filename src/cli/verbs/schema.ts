import { EXIT } from '../exit.ts'
import { writeJson } from '../output.ts'
import { findKind } from '../select.ts'
import type { Verb } from '../verb.ts'

export const run: Verb = async (runtime, [asked]) => {
  const kind = asked === undefined ? undefined : findKind(await runtime.kinds(), asked)
  writeJson(runtime.out, await runtime.jsonSchema(kind))
  return EXIT.ok
}
