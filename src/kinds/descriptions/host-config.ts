import { type Descriptions, under } from './describe.ts'
import { secretAt } from './shared/secret.ts'

const ABSENT: Descriptions = { absent: 'true removes it from the host.' }

const RIGHTS: Descriptions = {
  mode: 'Permissions in octal, like 0644; without it croft leaves them alone.',
  owner: 'User that owns it; without it croft leaves the owner alone.',
  group: 'Group that owns it; without it croft leaves the group alone.',
}

const ERASE: Descriptions = {
  erase:
    'Serial numbers of disks that croft may erase, as croft host devices shows them; without it croft erases none.',
}

const PACKAGES: Descriptions = {
  aptRepositories: 'APT repositories.',
  ...under('aptRepositories', {
    name: 'Name of the repository, for its file under /etc/apt.',
    uris: 'Base URLs of the repository.',
    suites: 'Suites, like bookworm, or / for a flat repository.',
    components: 'Components, like main.',
    architectures: 'Architectures, like amd64; without it those of the host.',
    key: 'Public key in ASCII armour, trusted for this repository only.',
  }),
  packages: 'Debian packages: names, or blocks.',
  ...under('packages', {
    name: 'Name of the package.',
    version: 'Exact version; without it any installed version will do.',
    ...ABSENT,
  }),
}

const USERS: Descriptions = {
  users: 'User accounts.',
  ...under('users', {
    name: 'Login name.',
    uid: 'Numeric id; without it the host chooses one.',
    groups: 'Groups that croft adds the user to; it never removes one.',
    shell: 'Login shell.',
    home: 'Home directory.',
    system: 'Creates a system account.',
    keys: 'The whole list of SSH authorized keys; without it croft leaves them alone.',
    sudo: 'Lets the user run everything with sudo, without a password.',
    ...ABSENT,
  }),
}

const FILES: Descriptions = {
  directories: 'Directories.',
  ...under('directories', { path: 'Absolute path of the directory.', ...RIGHTS, ...ABSENT }),
  fetches: 'Programs and archives from an address, accepted by their checksum; versions stand side by side.',
  ...under('fetches', {
    path: 'Absolute path of the link to the program, or to the content of the archive.',
    url: 'Address, http, https or a file of the host.',
    sha256: 'SHA-256 of what the address gives.',
    version: 'Names the folder of this version; without it the checksum does.',
    mode: 'Rights of the program, "0755" unless you write others.',
    archive: 'Unpacks it: tar with any compression, or zip.',
    member: 'File in the archive that the link leads to.',
    ...ABSENT,
  }),
  commands: 'Commands of your own, each run only while it has something to do.',
  ...under('commands', {
    name: 'Name of the command in the plan.',
    run: 'The program and its words; no shell reads them.',
    creates: 'Path that the command makes: it runs only while this is absent.',
    unless: 'Program that only looks, and its words: the command runs only while it fails.',
    directory: 'Directory in which the command runs.',
    timeoutSeconds: 'How long the command may take; 300 unless you write otherwise.',
  }),
  files: 'Files, each with content, secret or absent.',
  ...under('files', {
    path: 'Absolute path of the file.',
    content: 'The whole text of the file.',
    ...secretAt('secret', 'Secret that is the whole content of the file.'),
    ...RIGHTS,
    ...ABSENT,
    restart: 'systemd units that croft restarts, if they run, when the file has changed.',
  }),
  lines: 'Single lines in files that others own.',
  ...under('lines', {
    path: 'Absolute path of the file.',
    line: 'The line.',
    match: 'Beginning of the existing line that it replaces; without it croft adds the line.',
    ...ABSENT,
  }),
  blocks: 'Blocks of lines in files that others own, between two marker lines.',
  ...under('blocks', {
    path: 'Absolute path of the file.',
    name: 'Name of the block, in its marker lines.',
    content: 'Text of the block.',
    ...ABSENT,
  }),
}

const SSHD: Descriptions = {
  sshd: 'Settings of the SSH server; the host reverts them by itself if a new connection fails. What is absent stays as it is.',
  ...under('sshd', {
    passwordAuthentication: 'Allows logins with a password.',
    kbdInteractiveAuthentication: 'Allows keyboard-interactive logins.',
    permitRootLogin: 'Whether root may log in: yes, no, or prohibit-password.',
    allowUsers: 'Only these users may log in.',
    x11Forwarding: 'Allows X11 forwarding.',
    allowTcpForwarding: 'Allows TCP forwarding.',
    allowAgentForwarding: 'Allows agent forwarding.',
    maxAuthTries: 'Most login attempts for each connection.',
    loginGraceTime: 'Seconds that a login may take.',
    clientAliveInterval: 'Seconds without data after which sshd asks the client for a sign of life; 0 never asks.',
  }),
}

const KERNEL: Descriptions = {
  sysctl: 'Kernel settings by name, set now and at every boot.',
  modules: 'Kernel modules to load: names, or blocks.',
  ...under('modules', { name: 'Name of the module.', options: 'Options of the module, as one line.', ...ABSENT }),
  kernel: 'Kernel command line, for GRUB, systemd-boot or a Raspberry Pi; takes effect after a restart.',
  'kernel.args': 'Parameters to add.',
  'kernel.remove': 'Parameters to remove.',
  vfio: 'PCI devices reserved for guests.',
  'vfio.ids': 'Vendor and device ids, like 10de:2484.',
  'vfio.blacklist': 'Kernel drivers that must not take the devices.',
  udev: 'udev rules.',
  'udev.name': 'Name of the rules file.',
  'udev.rules': 'Text of the rules file.',
  coral: 'Sets up access to a Coral accelerator: usb for the group plugdev, pcie for the group apex.',
  units: 'systemd units and timers.',
  ...under('units', {
    name: 'Name of the unit, like backup.timer.',
    content: 'The whole unit file; without it the unit that the host has.',
    dropIn: 'Drop-in file for the unit.',
    enabled: 'Whether the unit starts at boot; without it croft leaves that alone.',
    state: 'Whether the unit runs now: started or stopped; without it croft leaves that alone.',
    masked: 'Masks the unit, so that nothing can start it.',
  }),
}

const DISKS: Descriptions = {
  mounts: 'Mounts in /etc/fstab.',
  ...under('mounts', {
    path: 'Mount point.',
    device: 'Device, like UUID=… or /dev/disk/by-id/…, or a network share.',
    fs: 'Type of the file system, like ext4 or nfs.',
    options: 'Mount options, separated by commas.',
    mounted: 'Whether it is mounted now; false only writes the entry.',
    required: 'true: the host does not start without it; otherwise croft adds nofail to the options.',
  }),
  btrfs: 'btrfs file systems, each on its own disk.',
  ...under('btrfs', {
    path: 'Mount point.',
    device: 'Disk by its id, like /dev/disk/by-id/….',
    label: 'Label of the file system.',
    subvolumes: 'Names of subvolumes to create.',
    ...ERASE,
  }),
  zpools: 'ZFS pools; croft creates, imports and extends them and never destroys one.',
  ...under('zpools', {
    name: 'Name of the pool.',
    vdevs: 'Virtual devices of the pool.',
    'vdevs.type': 'How the disks work together: disk, mirror, raidz1 or raidz2.',
    'vdevs.devices': 'Disks by their ids, like /dev/disk/by-id/….',
    properties: 'ZFS properties of the pool.',
    import: 'Imports an existing pool of this name.',
    ...ERASE,
  }),
  datasets: 'ZFS datasets.',
  'datasets.name': 'Name with the pool, like tank/media.',
  'datasets.properties': 'ZFS properties; one that is no longer declared returns to its old value.',
  cephDisks: 'Disks that croft wipes for Ceph.',
  'cephDisks.device': 'Disk by its id, like /dev/disk/by-id/….',
  ...under('cephDisks', ERASE),
}

const NETWORK: Descriptions = {
  addresses: 'Static addresses of interfaces; the host reverts a change by itself if croft can no longer reach it.',
  ...under('addresses', {
    interface: 'Name of the network interface.',
    manager: 'Software that manages the interface: networkmanager, netplan or ifupdown.',
    addresses: 'Addresses with their prefix, like 192.168.4.2/24.',
    gateway4: 'IPv4 default gateway.',
    gateway6: 'IPv6 default gateway.',
    dns: 'IP addresses of DNS servers.',
    reach: 'Address that must answer after the change, or the host reverts it.',
  }),
  hostname: 'Host name; without it croft leaves it alone.',
  hostEntries: 'Entries in /etc/hosts.',
  'hostEntries.address': 'IP address of the entry.',
  'hostEntries.names': 'Names for that address.',
  dns: 'Name resolution of the host; without it croft leaves it alone.',
  'dns.servers': 'IP addresses of the DNS servers.',
  'dns.search': 'Search domains.',
  time: 'Time zone and time servers; without it croft leaves them alone.',
  'time.timezone': 'Time zone, like Europe/Zurich.',
  'time.servers': 'NTP servers, as names or addresses.',
  nodeExporter: 'Installs the node exporter of Prometheus.',
  'nodeExporter.listen': 'Address and port that it listens on, like :9100.',
  'nodeExporter.collectors': 'Further collectors to turn on.',
}

export const hostConfig: Descriptions = {
  hosts: 'Hosts to configure: names, or a block with names and labels.',
  'hosts.names': 'Names of Hosts.',
  'hosts.labels': 'Labels; every Host that carries all of them is selected.',
  reboot: 'Whether croft may restart a host when an item needs it: allowed (one host at a time) or refused.',
  ...PACKAGES,
  ...USERS,
  ...FILES,
  ...SSHD,
  ...KERNEL,
  ...DISKS,
  ...NETWORK,
}
