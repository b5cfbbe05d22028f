/** The VM that most of these tests declare: `web-1`, number 205, on a host that the simulated homelab has. */
export function webVm(further: { readonly memory?: number; readonly fields?: readonly string[] } = {}): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web-1}
spec:
  forProvider:
    nodeName: fun-bedbug
    name: web-1
    vmId: 205
    started: true
    memory: [{dedicated: ${further.memory ?? 2048}}]
    disk: [{interface: scsi0, datastoreId: local, size: 4}]
${(further.fields ?? []).map((field) => `    ${field}\n`).join('')}`
}

/** The field by which a user of it gets a password from a Secret. */
export function passwordFrom(secret: string): string {
  return `initialization: [{datastoreId: local, userAccount: [{username: ubuntu, passwordSecretRef: {name: ${secret}, key: ubuntu}}]}]`
}
