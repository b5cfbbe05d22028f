import type { Definition, SettingSpec } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { FieldProblem } from '../kind.ts'

type Interface = Pick<SettingSpec, 'id' | 'fields'>

/** A field and what is wrong with it. */
interface Wrong {
  readonly field: string
  readonly message: string
  readonly hint: string
}

/**
 * Refuses fields that an interface of its type cannot keep. Proxmox writes interfaces to a file and derives their type
 * from it: fields that the file cannot express are accepted and lost, so croft would set them for ever.
 */
export function checkInterface(
  { name }: Definition,
  setting: Interface,
  pathOf: (field: string) => readonly string[],
): readonly FieldProblem[] {
  const wrong = RULES[name]?.(setting) ?? []
  return wrong.map(({ field, message, hint }) => ({ code: 'bad-value', path: pathOf(field), message, hint }))
}

const RULES: Readonly<Record<string, (setting: Interface) => readonly Wrong[]>> = { vlan, bond, bridge }

/** Checks that the VLAN equals the one in the name: `vlan40`, `eno1.40`. */
function vlan({ id, fields }: Interface): readonly Wrong[] {
  const [, number] = /^(?:\S+\.|vlan)(\d+)$/.exec(id) ?? []
  const tag = fields.tag === undefined ? undefined : valueText(fields.tag)
  if (number === undefined || tag === undefined || tag === number) return []
  return [
    {
      field: 'tag',
      message: `Proxmox takes the VLAN of ${id} from its name, ${number}, and not ${tag}`,
      hint: 'leave the tag out, or choose another name',
    },
  ]
}

const HASHED = ['balance-xor', '802.3ad']

function bond({ id, fields }: Interface): readonly Wrong[] {
  const mode = valueText(fields.mode)
  const wrong: Wrong[] = []
  if (!/^bond\d+$/.test(id))
    wrong.push({
      field: 'id',
      message: `Proxmox takes ${id} for no bond: it knows bonds by their name`,
      hint: 'call it bond0, bond1 and so on, by its name or its id',
    })
  if (fields.hashPolicy !== undefined && !HASHED.includes(mode))
    wrong.push({
      field: 'hashPolicy',
      message: `Proxmox keeps no hashPolicy of a bond with mode ${mode}`,
      hint: `leave hashPolicy out, or choose mode ${HASHED.join(' or ')}`,
    })
  if (fields.primary !== undefined && valueText(fields.primary) !== '' && mode !== 'active-backup')
    wrong.push({
      field: 'primary',
      message: `Proxmox keeps no primary of a bond with mode ${mode}`,
      hint: 'leave primary out, or choose mode active-backup',
    })
  return wrong
}

function bridge({ id, fields }: Interface): readonly Wrong[] {
  const { vids } = fields
  if (fields.vlanAware === true || vids === undefined || [vids].flat().length === 0) return []
  return [
    {
      field: 'vids',
      message: `Proxmox keeps no VLANs of ${id}, which passes none on`,
      hint: 'set vlanAware: true, or leave vids out',
    },
  ]
}
