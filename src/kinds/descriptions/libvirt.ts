import { type Descriptions, under } from './describe.ts'
import { LIBVIRT_HARDWARE } from './shared/machine.ts'
import { SSH_LOGIN } from './shared/ssh.ts'

export const libvirt: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that libvirt runs on, which defines the access; leave it out with an endpoint over qemu+ssh.',
  endpoint: 'libvirt URI, like qemu:///system or qemu+ssh://user@host/system.',
  ssh: 'SSH access for an endpoint over qemu+ssh.',
  ...under('ssh', SSH_LOGIN),
  estate: 'Name of what this repository manages; set it only if two repositories share one host.',
  machines: 'Defaults for all machines of this connection.',
  ...under('machines', LIBVIRT_HARDWARE),
  limits: 'How many operations croft runs at the same time.',
  'limits.perHost': 'Most concurrent changes on the host.',
  'limits.perStorage': 'Most concurrent changes on one storage pool.',
  'limits.reads': 'Most concurrent read operations.',
}
