import { wordList } from '../lib/word-list.ts'
import {
  anything,
  type ConfigShape,
  either,
  flag,
  type Keys,
  list,
  listOrEmpty,
  map,
  mapOf,
  nothing,
  number,
  refused,
  text,
  words,
} from './shape.ts'

/*
 * The shape of a cloud-config, from cloud-init's JSON schema: all top-level keys, and the values of those that people
 * use for a new machine. Other values are not checked.
 */

const texts = list(text)
const command = either(text, texts)

const user = map({
  name: text,
  snapuser: text,
  doas: texts,
  expiredate: text,
  gecos: text,
  groups: either(text, texts, mapOf(nothing)),
  homedir: text,
  inactive: text,
  lock_passwd: flag,
  'lock-passwd': flag,
  no_create_home: flag,
  no_log_init: flag,
  no_user_group: flag,
  passwd: text,
  hashed_passwd: text,
  plain_text_passwd: text,
  create_groups: flag,
  primary_group: text,
  selinux_user: text,
  shell: text,
  ssh_authorized_keys: texts,
  ssh_import_id: texts,
  ssh_redirect_user: flag,
  system: flag,
  sudo: either(text, nothing, flag, texts),
  uid: either(number, text),
})

const file = map(
  {
    path: text,
    content: text,
    source: map({ uri: text, headers: mapOf(text) }, ['uri']),
    owner: text,
    permissions: text,
    encoding: words('gz', 'gzip', 'gz+base64', 'gzip+base64', 'gz+b64', 'gzip+b64', 'b64', 'base64', 'text/plain'),
    append: flag,
    defer: flag,
  },
  ['path'],
)

const swapSize = either(words('auto'), number, text)

const groups = either(text, list(either(text, mapOf(either(text, texts)))), mapOf(either(text, texts)))

const aptSource = map({
  source: text,
  keyid: text,
  key: text,
  keyserver: text,
  filename: text,
  append: flag,
})

const aptMirrors = list(
  map({ arches: texts, uri: text, search: texts, search_dns: flag, keyid: text, key: text, keyserver: text }, [
    'arches',
  ]),
)

const DESCRIBED: Keys = {
  hostname: text,
  fqdn: text,
  prefer_fqdn_over_hostname: flag,
  preserve_hostname: flag,
  create_hostname_file: flag,
  manage_etc_hosts: words(true, false, 'localhost', 'template'),
  users: either(list(either(text, texts, user)), text, mapOf(anything)),
  user: either(text, user),
  groups,
  ssh_authorized_keys: texts,
  ssh_keys: mapOf(text),
  ssh_deletekeys: flag,
  ssh_genkeytypes: list(words('dsa', 'ecdsa', 'ed25519', 'rsa')),
  ssh_import_id: texts,
  ssh_pwauth: either(flag, text),
  ssh_quiet_keygen: flag,
  ssh_publish_hostkeys: map({ enabled: flag, blacklist: listOrEmpty(text) }),
  ssh: map({ emit_keys_to_console: flag }, ['emit_keys_to_console']),
  allow_public_ssh_keys: flag,
  no_ssh_fingerprints: flag,
  authkey_hash: text,
  disable_root: flag,
  disable_root_opts: text,
  password: text,
  chpasswd: map({
    expire: flag,
    users: listOrEmpty(map({ name: text, password: text, type: words('RANDOM', 'hash', 'text') }, ['name'])),
    list: either(text, texts),
  }),
  write_files: list(file),
  runcmd: list(either(text, texts, nothing)),
  bootcmd: list(command),
  packages: list(either(text, texts, map({ apt: anything, snap: anything }))),
  package_update: flag,
  package_upgrade: flag,
  package_reboot_if_required: flag,
  apt_update: flag,
  apt_upgrade: flag,
  apt_reboot_if_required: flag,
  apt: map({
    preserve_sources_list: flag,
    generate_mirrorlists: flag,
    disable_suites: texts,
    primary: aptMirrors,
    security: aptMirrors,
    add_apt_repo_match: text,
    debconf_selections: mapOf(text),
    sources_list: text,
    conf: text,
    proxy: text,
    http_proxy: text,
    https_proxy: text,
    ftp_proxy: text,
    sources: mapOf(aptSource),
  }),
  apt_pipelining: either(number, flag, words('none', 'unchanged', 'os')),
  apk_repos: map({ preserve_repositories: flag, alpine_repo: anything, local_repo_base_url: text }),
  yum_repo_dir: text,
  yum_repos: mapOf(anything),
  ca_certs: map({ remove_defaults: flag, 'remove-defaults': flag, trusted: texts }),
  'ca-certs': map({ remove_defaults: flag, 'remove-defaults': flag, trusted: texts }),
  mounts: list(list(text)),
  mount_default_fields: list(either(text, nothing)),
  swap: map({ filename: text, size: swapSize, maxsize: swapSize }),
  growpart: map({
    mode: words('auto', 'growpart', 'gpart', 'off', false),
    devices: listOrEmpty(text),
    ignore_growroot_disabled: flag,
  }),
  resize_rootfs: words(true, false, 'noblock'),
  device_aliases: mapOf(text),
  disk_setup: mapOf(
    map({
      table_type: words('mbr', 'gpt'),
      layout: either(words('remove'), flag, listOrEmpty(either(number, list(number)))),
      overwrite: flag,
    }),
  ),
  fs_setup: listOrEmpty(
    map({
      label: text,
      filesystem: text,
      device: text,
      partition: either(words('auto', 'any', 'none'), number, text),
      overwrite: flag,
      replace_fs: text,
      extra_opts: either(text, listOrEmpty(text)),
      cmd: either(text, listOrEmpty(text)),
    }),
  ),
  ntp: either(
    nothing,
    map({
      pools: listOrEmpty(text),
      servers: listOrEmpty(text),
      peers: listOrEmpty(text),
      allow: listOrEmpty(text),
      ntp_client: text,
      enabled: flag,
      config: map({ confpath: text, check_exe: text, packages: listOrEmpty(text), service_name: text, template: text }),
    }),
  ),
  timezone: text,
  locale: either(text, flag),
  locale_configfile: text,
  keyboard: map({ layout: text, model: text, variant: text, options: text }, ['layout']),
  manage_resolv_conf: flag,
  resolv_conf: map({
    nameservers: listOrEmpty(text),
    searchdomains: listOrEmpty(text),
    domain: text,
    sortlist: listOrEmpty(text),
    options: mapOf(anything),
  }),
  random_seed: map({
    file: text,
    data: text,
    encoding: words('raw', 'base64', 'b64', 'gzip', 'gz'),
    command: listOrEmpty(text),
    command_required: flag,
  }),
  power_state: map(
    {
      delay: either(number, text),
      mode: words('poweroff', 'reboot', 'halt'),
      message: text,
      timeout: number,
      condition: either(text, flag, listOrEmpty(anything)),
    },
    ['mode'],
  ),
  final_message: text,
  network: refused('the network is declared by the machine; croft writes network-config beside the user data'),
}

/** Keys whose insides are left to cloud-init. */
const UNDESCRIBED = wordList(`
  ansible autoinstall byobu_by_default chef cloud_config_modules cloud_final_modules cloud_init_modules datasource
  datasource_list disable_ec2_metadata drivers fan grub-dpkg grub_dpkg landscape launch-index lxd
  manual_cache_clean mcollective merge_how merge_type migrate output phone_home puppet reporting rh_subscription
  rpi rsyslog salt_minion snap spacewalk ssh_fp_console_blacklist ssh_key_console_blacklist system_info
  ubuntu_advantage ubuntu_pro updates vendor_data wireguard zypper
`)

export const userDataShape: ConfigShape = map({
  ...Object.fromEntries(UNDESCRIBED.map((key) => [key, anything])),
  ...DESCRIBED,
})
