/** What test/real-ssh/forty-items.ts declares, as tasks for Ansible: the same paths, the same bytes, the same rights. */
export function playbook(): string {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
  const sysctl = {
    'net.ipv4.ip_forward': 1,
    'net.ipv4.conf.all.rp_filter': 2,
    'net.ipv4.tcp_keepalive_time': 600,
    'net.ipv6.conf.all.forwarding': 1,
  }
  const copy = (path: string, content: string, more: object = {}) => ({
    copy: { dest: path, content, owner: 'root', group: 'root', mode: '0644', ...more },
  })
  const folder = (path: string, mode: string, owner = 'root') => ({
    file: { path, state: 'directory', mode, owner, group: owner },
  })
  const unit = (name: string, lines: readonly string[]) => copy(`/etc/systemd/system/${name}`, `${lines.join('\n')}\n`)
  const tasks = [
    {
      apt: {
        name: ['sudo', 'procps', 'iproute2', 'kmod', 'openssh-server', 'python3'],
        state: 'present',
        update_cache: false,
      },
    },
    { user: { name: 'deploy', groups: ['adm'], append: true, shell: '/bin/bash' } },
    { file: { path: '/home/deploy/.ssh', state: 'directory', mode: '0700', owner: 'deploy' } },
    { copy: { dest: '/home/deploy/.ssh/authorized_keys', content: `${key}\n`, mode: '0600', owner: 'deploy' } },
    copy('/etc/sudoers.d/croft-deploy', 'deploy ALL=(ALL:ALL) NOPASSWD: ALL\n', { mode: '0440' }),
    { user: { name: 'backup2', shell: '/usr/sbin/nologin' } },
    folder('/srv/app', '0750', 'deploy'),
    folder('/etc/rancher/k3s', '0755'),
    folder('/srv/data', '0700'),
    folder('/opt/tools', '0755'),
    ...Array.from({ length: 9 }, (_, index) =>
      copy(`/etc/lab/file-${index + 1}.conf`, `setting = ${index + 1}\nname = '$(touch /var/pwned)'\n`, {
        mode: '0640',
      }),
    ),
    copy('/srv/app/config.yaml', 'a: 1\n', { mode: '0600', owner: 'deploy', group: 'deploy' }),
    { file: { path: '/etc/obsolete.conf', state: 'absent' } },
    ...[1, 2, 3].map((one) => ({
      lineinfile: { path: '/etc/environment', line: `LAB_${one}=${one}`, regexp: `^LAB_${one}=` },
    })),
    {
      blockinfile: {
        path: '/etc/profile.d/lab.sh',
        block: "alias ll='ls -l'\nalias kpods='kubectl get pods -A'\n",
        marker: '# croft {mark}: aliases',
        marker_begin: 'begins',
        marker_end: 'ends',
      },
    },
    ...Object.entries(sysctl).map(([name, value]) =>
      copy(`/etc/sysctl.d/90-croft-${name.replaceAll('.', '-')}.conf`, `${name} = ${value}\n`),
    ),
    unit('lab-tick.service', ['[Unit]', 'Description=Tick', '[Service]', 'Type=oneshot', 'ExecStart=/bin/true']),
    unit('lab-tick.timer', [
      '[Unit]',
      'Description=Tick every hour',
      '[Timer]',
      'OnCalendar=hourly',
      '[Install]',
      'WantedBy=timers.target',
    ]),
    { systemd: { name: 'lab-tick.timer', enabled: true, state: 'started' } },
    unit('lab-sleep.service', [
      '[Unit]',
      'Description=Sleep',
      '[Service]',
      'ExecStart=/bin/sleep infinity',
      '[Install]',
      'WantedBy=multi-user.target',
    ]),
    { systemd: { name: 'lab-sleep.service', enabled: true, state: 'started' } },
    { systemd: { name: 'ssh.service', enabled: true, state: 'started' } },
    {
      blockinfile: {
        path: '/etc/hosts',
        block: '10.77.0.2 cow.lab cow\n10.77.0.3 sheep.lab sheep\n',
        marker: '# croft {mark}: lab',
        marker_begin: 'begins',
        marker_end: 'ends',
      },
    },
    { file: { path: '/etc/localtime', src: '/usr/share/zoneinfo/Europe/Zurich', state: 'link' } },
    copy('/etc/resolv.conf', 'search lab\nnameserver 10.77.0.1\n'),
    copy(
      '/etc/ssh/sshd_config.d/00-croft.conf',
      'PasswordAuthentication no\nPermitRootLogin prohibit-password\nX11Forwarding no\n',
      { mode: '0600' },
    ),
    copy('/etc/udev/rules.d/80-croft-coral.rules', 'SUBSYSTEM=="usb", ATTRS{idVendor}=="1a6e", MODE="0660"\n'),
  ]
  // JSON is YAML.
  return `${JSON.stringify([{ hosts: 'all', gather_facts: false, tasks }], undefined, 1)}\n`
}
