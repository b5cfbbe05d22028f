import type { Definition, SettingValue } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { FieldProblem } from '../kind.ts'

const ICMP: ReadonlySet<string> = new Set(['icmp', 'icmpv6', 'ipv6-icmp'])

/** Reports rules that Proxmox would refuse, before anything is written. */
export function checkRules(
  definition: Definition,
  rules: SettingValue | undefined,
  path: readonly string[],
): readonly FieldProblem[] {
  if (!Array.isArray(rules)) return []
  const rows = rules as readonly Readonly<Record<string, SettingValue>>[]
  const problems: FieldProblem[] = []
  const before = new Set<string>()
  for (const [index, rule] of rows.entries()) {
    const at = [...path, index]
    if (definition.name === 'firewall-group' && rule.group !== undefined)
      problems.push({ code: 'bad-value', path: at, message: 'a security group cannot hold another one' })
    if ((rule.destinationPort ?? rule.sourcePort) !== undefined && rule.protocol === undefined)
      problems.push({ code: 'missing-field', path: at, message: 'a rule with a port needs a protocol' })
    if (rule.icmpType !== undefined && !ICMP.has(valueText(rule.protocol)))
      problems.push({ code: 'bad-value', path: at, message: 'icmpType needs the protocol icmp or ipv6-icmp' })
    if (rule.type === 'forward' && rule.action === 'REJECT')
      problems.push({
        code: 'bad-value',
        path: at,
        message: 'what passes through cannot be rejected',
        hint: 'use DROP, or a rule of the type in or out',
      })
    const text = JSON.stringify(Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (before.has(text)) problems.push({ code: 'bad-value', path: at, message: 'the same rule stands above already' })
    before.add(text)
  }
  return problems
}
