import { PRESET_NAMES, PRESETS, type PresetName } from '../../src/kinds/addon/presets/registry.ts'
import { findKind } from '../../src/kinds/registry.ts'
import type { KubeObject } from '../../src/model/kube-object.ts'
import { link } from '../../src/plan/link.ts'
import { readText } from '../../src/source/testing/fixture.ts'

const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.79}
  family: dual
  podCidrs: [10.42.0.0/16, "fd22:2025:6a6a:42::/104"]
  serviceCidrs: [10.43.0.0/16, "fd22:2025:6a6a:43::/112"]
  nodeMasks: {ipv6: 120}
  servers: [{machine: Host/cow, addresses: [192.168.4.81, "fd12:3456:789a:14::2"]}]
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec:
  ssh: {address: 192.168.4.81, hostKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGrow0000000000000000000000000000000000000000"]}
`

/** Everything that croft writes for these presets, each with the settings of its example. */
export function presetObjects(names: readonly PresetName[] = PRESET_NAMES): readonly KubeObject[] {
  const addons = names.map((name) => {
    const manifest = {
      apiVersion: 'croft.dev/v1alpha1',
      kind: 'Addon',
      metadata: { name },
      spec: { cluster: 'homelab', preset: name, with: PRESETS[name].example },
    }
    return `---\n${JSON.stringify(manifest)}\n`
  })
  const revision = readText(CLUSTER + addons.join(''))
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  const wrong = estate.problems.filter(({ severity }) => severity === 'error')
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong))
  return estate.resources.flatMap(({ desired }) => (desired.type === 'object' ? [desired.object.object] : []))
}
