import { type Descriptions, under } from './describe.ts'
import { secretAt } from './shared/secret.ts'
import { SSH_LOGIN } from './shared/ssh.ts'

export const host: Descriptions = {
  connection: 'Name of the connection to a hypervisor that the host belongs to; not needed if there is only one.',
  node: 'Proxmox node name; without it metadata.name.',
  description: 'One line for people.',
  estate: 'Name of what this repository manages; set it only if two repositories configure the same host.',
  bindings: 'Local names of the logical networks and storages on this host.',
  'bindings.networks': 'Logical network to the bridge that carries it here.',
  'bindings.networks.*.bridge': 'Bridge on the host, or network of its hypervisor.',
  'bindings.networks.*.vlan': 'VLAN tag on that bridge; without it that of the Network.',
  'bindings.storages': 'Logical storage to the name of the storage or pool of the hypervisor.',
  placement: 'When croft does not choose this host for new machines with host: auto.',
  'placement.closed': 'Takes no new machines; existing ones stay.',
  'placement.busyAbove': 'CPU load in percent above which the host takes no new machines.',
  'placement.busyForMinutes': 'How many minutes the load must stay above that value.',
  ssh: 'How croft reaches the host over SSH; without it, and without local, croft does not log in.',
  'ssh.user': 'User that logs in.',
  'ssh.address': 'DNS name or IP address of the host.',
  'ssh.port': 'TCP port of the SSH server.',
  'ssh.jump': 'Name of another Host that serves as jump host.',
  ...under('ssh', SSH_LOGIN),
  local: 'true if croft runs on this host itself; croft then works without SSH.',
  wake: 'How croft wakes the host with Wake-on-LAN; without it croft cannot send a magic packet.',
  'wake.mac': 'MAC address of the network card that listens for magic packets.',
  'wake.broadcast': 'Address that the magic packet goes to.',
  'wake.port': 'UDP port that the magic packet goes to.',
  bmc: 'Management controller of the host, over Redfish; a Power switches the host with it.',
  'bmc.address': 'DNS name or IP address of the controller.',
  'bmc.port': 'HTTPS port of the controller.',
  'bmc.user': 'User of the controller.',
  ...secretAt('bmc.password', 'Password of that user.'),
  'bmc.fingerprint':
    'SHA-256 fingerprint of its certificate, AA:BB:…; without it the trust store of the system decides.',
  'bmc.system': 'Id of the Redfish system, like 1 or System.Embedded.1; not needed if there is only one.',
  ups: 'UPS that feeds the host, by its NUT name, like rack@192.168.4.2.',
}
