import type { Definition } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { FieldProblem } from '../kind.ts'

/** A field of a definition, under the manifest's name for it. */
interface StatedField {
  readonly field: string
  readonly word: string
  readonly path: readonly string[]
}

/** Reports fields that the type does not have: Proxmox would refuse them only when they are written. */
export function checkTypes(
  { fields }: Definition,
  type: unknown,
  said: readonly StatedField[],
): readonly FieldProblem[] {
  return said.flatMap(({ field, word, path }) => {
    const types = fields[field]?.types
    if (types === undefined || types.includes(valueText(type))) return []
    return [
      {
        code: 'bad-value' as const,
        path,
        message: `${valueText(type)} has no ${word}: it is a field of ${types.join(', ')}`,
        hint: `take ${word} out, or declare another type`,
      },
    ]
  })
}
