import type { Definition, SettingSpec } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { FieldProblem } from '../kind.ts'

/**
 * Proxmox takes the VLAN of an interface from its name where the name says one (`vlan40`, `eno1.40`) and keeps no other:
 * a tag that contradicts it would be set for ever.
 */
export function checkVlan(
  { name }: Definition,
  { id, fields }: Pick<SettingSpec, 'id' | 'fields'>,
  path: readonly string[],
): readonly FieldProblem[] {
  const [, number] = (name === 'vlan' ? /^(?:\S+\.|vlan)(\d+)$/.exec(id) : null) ?? []
  const tag = fields.tag === undefined ? undefined : valueText(fields.tag)
  if (number === undefined || tag === undefined || tag === number) return []
  return [
    {
      code: 'bad-value',
      path,
      message: `Proxmox takes the VLAN of ${id} from its name, ${number}, and not ${tag}`,
      hint: 'leave the tag out, or choose another name',
    },
  ]
}
