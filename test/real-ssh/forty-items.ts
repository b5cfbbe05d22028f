/** A configuration of forty items, as a small homelab would have it; what both croft and its peer are given. */
export function fortyItems(name: string, hosts: string): string {
  const files = Array.from({ length: 9 }, (_, index) => index + 1)
  const lines = [1, 2, 3]
  return `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: ${name}}
spec:
  hosts: ${hosts}
  packages: [sudo, procps, iproute2, kmod, openssh-server, python3]
  users:
    - {name: deploy, groups: [adm], shell: /bin/bash, sudo: true, keys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO"]}
    - {name: backup2, groups: [], shell: /usr/sbin/nologin}
  directories:
    - {path: /srv/app, mode: "0750", owner: deploy, group: deploy}
    - {path: /etc/rancher/k3s}
    - {path: /srv/data, mode: "0700"}
    - {path: /opt/tools}
  files:
${files.map((one) => `    - {path: /etc/lab/file-${one}.conf, mode: "0640", content: "setting = ${one}\\nname = '$(touch /var/pwned)'\\n"}`).join('\n')}
    - {path: /srv/app/config.yaml, owner: deploy, group: deploy, mode: "0600", content: "a: 1\\n"}
    - {path: /etc/obsolete.conf, absent: true}
  lines:
${lines.map((one) => `    - {path: /etc/environment, line: "LAB_${one}=${one}", match: "LAB_${one}="}`).join('\n')}
  blocks:
    - {path: /etc/profile.d/lab.sh, name: aliases, content: "alias ll='ls -l'\\nalias kpods='kubectl get pods -A'\\n"}
  sysctl:
    net.ipv4.ip_forward: 1
    net.ipv4.conf.all.rp_filter: 2
    net.ipv4.tcp_keepalive_time: 600
    net.ipv6.conf.all.forwarding: 1
  units:
    - name: lab-tick.service
      content: |
        [Unit]
        Description=Tick
        [Service]
        Type=oneshot
        ExecStart=/bin/true
    - name: lab-tick.timer
      enabled: true
      state: started
      content: |
        [Unit]
        Description=Tick every hour
        [Timer]
        OnCalendar=hourly
        [Install]
        WantedBy=timers.target
    - name: lab-sleep.service
      enabled: true
      state: started
      content: |
        [Unit]
        Description=Sleep
        [Service]
        ExecStart=/bin/sleep infinity
        [Install]
        WantedBy=multi-user.target
    - {name: ssh.service, enabled: true, state: started}
  hostEntries:
    - {address: 10.77.0.2, names: [cow.lab, cow]}
    - {address: 10.77.0.3, names: [sheep.lab, sheep]}
  time: {timezone: Europe/Zurich}
  dns: {servers: [10.77.0.1], search: [lab]}
  sshd:
    passwordAuthentication: false
    permitRootLogin: prohibit-password
    x11Forwarding: false
  udev:
    - {name: coral, rules: "SUBSYSTEM==\\"usb\\", ATTRS{idVendor}==\\"1a6e\\", MODE=\\"0660\\"\\n"}
`
}
