import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionNamed } from '../../proxmox/registry.ts'
import { checkRules } from './check-rules.ts'

test('a firewall rule that Proxmox would refuse is refused at its place', () => {
  const rule = { action: 'ACCEPT' }
  for (const [given, expected] of [
    [{ ...rule, protocol: 'tcp', destinationPort: '22' }, []],
    [{ ...rule, destinationPort: '22' }, ['a rule with a port needs a protocol']],
    [{ ...rule, macro: 'SSH', destinationPort: '22' }, ['a rule with a port needs a protocol']],
    [{ ...rule, macro: 'SSH' }, []],
    [{ ...rule, protocol: 'icmp', icmpType: 'echo-request' }, []],
    [{ ...rule, protocol: 'tcp', icmpType: 'echo-request' }, ['icmpType needs the protocol icmp or ipv6-icmp']],
    [{ type: 'forward', action: 'REJECT' }, ['what passes through cannot be rejected']],
    [{ type: 'forward', action: 'DROP' }, []],
  ] as const) {
    const problems = checkRules(definitionNamed('firewall-rules'), [given] as never, ['spec', 'rules'])
    assert.deepEqual(
      problems.map(({ message }) => message),
      expected,
      JSON.stringify(given),
    )
    for (const { path } of problems) assert.deepEqual(path, ['spec', 'rules', 0])
  }
})
