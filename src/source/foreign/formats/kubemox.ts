import { fieldsOf, type OperatorGuest, type OperatorObject, readGuestObjects, sizeFields } from '../guest-objects.ts'
import type { ForeignFormat } from '../reading.ts'

/** Objects of Kubemox: its VMs and containers are taken over by their number. */
export const kubemox: ForeignFormat = {
  name: 'kubemox',
  about: 'objects of a cluster with Kubemox: kubectl get virtualmachines,containers,managedvirtualmachines -A -o yaml',
  groups: /^proxmox\.alperen\.cloud\//,
  read: (files) => readGuestObjects(files, /^proxmox\.alperen\.cloud\//, judge),
}

/** Reasons why objects other than guests are not converted. */
const OTHERS: Readonly<Record<string, string>> = {
  VirtualMachineSet: 'its machines are objects of their own, VirtualMachine: export those',
  VirtualMachineTemplate: 'a template stays as it is; write an Image, or clone it by its number',
  VirtualMachineSnapshot: 'snapshots stay as they are; croft keeps none as objects',
  VirtualMachineSnapshotPolicy: 'write a ProxmoxBackupJob, or snapshots of the storage',
  StorageDownloadURL: 'the file stays as it is; write an EnvironmentDownloadFile with its checksum',
  CustomCertificate: 'write a ProxmoxCertificate; its key is a reference to a secret',
  ProxmoxConnection: 'it holds a password or token; write a Proxmox object with a reference to the secret',
}

function judge({ kind, spec, status }: OperatorObject): OperatorGuest | { readonly why: string } {
  const why = OTHERS[kind]
  if (why !== undefined) return { why }
  if (!['VirtualMachine', 'Container', 'ManagedVirtualMachine'].includes(kind))
    return { why: 'croft has no kind for it' }
  const seen = fieldsOf(status.status)
  const form = { ...fieldsOf(spec.vmSpec), ...fieldsOf(spec.template) }
  const id = typeof seen.id === 'number' ? seen.id : typeof status.id === 'number' ? status.id : undefined
  const node = [seen.node, status.node, spec.nodeName].find(
    (one): one is string => typeof one === 'string' && one !== '',
  )
  const isVm = kind !== 'Container'
  const name = typeof spec.name === 'string' && spec.name !== '' ? spec.name : undefined
  return {
    kind: isVm ? 'EnvironmentVM' : 'EnvironmentContainer',
    node,
    id,
    fields: {
      ...(name === undefined ? {} : isVm ? { name } : { initialization: [{ hostname: name }] }),
      ...sizeFields(
        form.cores ?? spec.cores,
        isVm ? (form.socket ?? spec.socket) : undefined,
        form.memory ?? spec.memory,
      ),
      // Taking over starts nothing: a guest that is declared without it runs.
      ...(seen.state === 'stopped' ? { started: false } : {}),
    },
    without: [
      ...['disk', 'network', 'pciDevices', 'cloudInitConfig', 'osImage'].flatMap((field) =>
        form[field] === undefined ? [] : [`${field} is not declared and stays as it is`],
      ),
      ...(spec.additionalConfig === undefined ? [] : ['additionalConfig is not declared and stays as it is']),
    ],
  }
}
