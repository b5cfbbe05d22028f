import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { FACTS, readFacts } from './facts-program.ts'

const directory = mkdtempSync(join(tmpdir(), 'croft-facts-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** The real program by a real sh, on a tree with these files instead of the kernel's, and these programs. */
function factsOf(
  name: string,
  files: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
) {
  const root = join(directory, name)
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  for (const [path, text] of Object.entries(files)) put(path, text)
  for (const [program, does] of Object.entries(programs)) put(`/bin/${program}`, `#!/bin/sh\n${does}\n`, 0o755)
  for (const [path, to] of Object.entries(links)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    symlinkSync(join(root, to), join(root, path))
  }
  const program = FACTS.replaceAll(/(?<![A-Za-z])\/(proc|sys|etc|dev)\//g, `${root}/$1/`)
    .replaceAll(`2>${root}/dev/null`, '2>/dev/null')
    .replaceAll(`>${root}/dev/null`, '>/dev/null')
    .replace('PATH=', `PATH=${join(root, 'bin')}:`)
  const ran = spawnSync('sh', ['-c', program], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(ran.stderr, '')
  const facts = readFacts(ran.stdout)
  assert.ok(facts, ran.stdout)
  return facts
}

const MEMORY = 'MemTotal:        8245208 kB\nMemFree:          123 kB\nMemAvailable:    7340032 kB\n'
const says = (text: string) => `cat <<'END'\n${text}\nEND`
const uname = (node: string, release: string, machine: string) =>
  `case $1 in -n) echo ${node} ;; -r) echo ${release} ;; -m) echo ${machine} ;; esac`

test('a Raspberry Pi with Raspberry Pi OS on arm64: what it is, its card, its heat; nothing measures its power', () => {
  const facts = factsOf(
    'pi',
    {
      '/etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n',
      '/etc/machine-id': '5f2c9a7d3a0b4f0c8c4e6d7f8a9b0c1d\n',
      '/proc/device-tree/model': 'Raspberry Pi 4 Model B Rev 1.5\0',
      // On arm64 it has no model name.
      '/proc/cpuinfo':
        'processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.5\n',
      '/proc/meminfo': MEMORY,
      '/proc/uptime': '86400.52 340000.11\n',
      '/proc/loadavg': '0.25 0.20 0.18 1/200 4321\n',
      '/sys/class/net/eth0/address': 'd8:3a:dd:00:00:01\n',
      '/sys/class/net/eth0/operstate': 'up\n',
      '/sys/class/net/eth0/speed': '1000\n',
      '/sys/class/net/lo/address': '00:00:00:00:00:00\n',
      '/sys/class/thermal/thermal_zone0/type': 'cpu-thermal\n',
      '/sys/class/thermal/thermal_zone0/temp': '51608\n',
      '/sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
      '/sys/class/hwmon/hwmon0/temp1_input': '51608\n',
    },
    {
      uname: uname('cow', '6.6.31+rpt-rpi-v8', 'aarch64'),
      nproc: 'echo 4',
      lsblk: says('mmcblk0 63864569856 0 0x1f3a4b5c \nram0 4194304 0  '),
      ip: says(
        '2: eth0    inet 192.168.14.2/24 brd 192.168.14.255 scope global eth0\n2: eth0    inet6 fd12:3456:789a:14::2/64 scope global ',
      ),
    },
    { '/sys/class/hwmon/hwmon0/device': '/sys/class/thermal/thermal_zone0' },
  )
  assert.deepEqual(facts, {
    hostname: 'cow',
    os: 'Debian GNU/Linux 12 (bookworm)',
    kernel: '6.6.31+rpt-rpi-v8',
    arch: 'aarch64',
    model: 'Raspberry Pi 4 Model B Rev 1.5',
    cpus: 4,
    memoryMb: 8052,
    freeMb: 7168,
    uptimeSeconds: 86_400,
    load: 0.25,
    machineId: '5f2c9a7d3a0b4f0c8c4e6d7f8a9b0c1d',
    disks: [{ name: 'mmcblk0', gb: 64, spins: false, serial: '0x1f3a4b5c', id: '-', model: '' }],
    nics: [
      {
        name: 'eth0',
        mac: 'd8:3a:dd:00:00:01',
        state: 'up',
        mbit: 1000,
        addresses: ['192.168.14.2/24', 'fd12:3456:789a:14::2/64'],
      },
    ],
    temperatures: [{ sensor: 'cpu-thermal', celsius: 51.6 }],
  })
})

test('a PC with Ubuntu: sensors that nobody connected are not believed, and the board says what it draws', () => {
  const facts = factsOf(
    'pc',
    {
      '/etc/os-release': 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
      '/sys/class/dmi/id/product_name': 'ThinkCentre M75q\n',
      '/proc/cpuinfo': 'processor\t: 0\nmodel name\t: AMD Ryzen 5 PRO 3400GE\n',
      '/proc/meminfo': MEMORY,
      '/proc/uptime': '100.00 1.00\n',
      '/proc/loadavg': '1.00 1 1 1/1 1\n',
      '/sys/class/hwmon/hwmon0/name': 'nvme\n',
      '/sys/class/hwmon/hwmon0/temp1_input': '38850\n',
      '/sys/class/hwmon/hwmon1/name': 'k10temp\n',
      '/sys/class/hwmon/hwmon1/temp1_input': '55250\n',
      '/sys/class/hwmon/hwmon2/name': 'nct6775\n',
      '/sys/class/hwmon/hwmon2/temp1_input': '-128000\n',
      '/sys/class/hwmon/hwmon3/name': 'power_meter\n',
      '/sys/class/hwmon/hwmon3/power1_average': '41300000\n',
    },
    { uname: uname('duck', '6.8.0-45-generic', 'x86_64'), nproc: 'echo 8', lsblk: ':', ip: ':' },
  )
  assert.deepEqual([facts.os, facts.arch, facts.model], ['Ubuntu 24.04.1 LTS', 'x86_64', 'ThinkCentre M75q'])
  assert.deepEqual(facts.temperatures, [
    { sensor: 'nvme', celsius: 38.9 },
    { sensor: 'k10temp', celsius: 55.3 },
  ])
  assert.equal(facts.watts, 41.3)
})
