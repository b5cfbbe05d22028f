/** A Cluster of one box that was there before, and its Host. */
export const boxCluster = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: ${name}}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.79}
  servers: [{machine: Host/cow, addresses: [192.168.4.81]}]
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec:
  ssh: {address: 192.168.4.81, hostKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGrow0000000000000000000000000000000000000000"]}
`
