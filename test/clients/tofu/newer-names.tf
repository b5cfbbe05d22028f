# Names without virtual_environment, and what only releases with them have.
resource "proxmox_download_file" "iso" {
  content_type = "iso"
  datastore_id = "local"
  node_name    = "fun-bedbug"
  url          = "https://images.test/tiny.iso"
}
resource "proxmox_user_token" "reader" {
  user_id               = "root@pam"
  token_name            = "reader"
  comment               = "reads"
  privileges_separation = true
}
resource "proxmox_acl" "reader" {
  path      = "/storage"
  role_id   = "PVEAuditor"
  token_id  = proxmox_user_token.reader.id
  propagate = false
}
resource "proxmox_storage_directory" "spare" {
  id      = "spare"
  path    = "/srv/spare"
  content = ["backup", "iso"]
  nodes   = ["fun-bedbug"]
  backups {
    keep_last  = 3
    keep_daily = 7
  }
}
resource "proxmox_storage_nfs" "nas" {
  id      = "nas"
  server  = "192.168.4.50"
  export  = "/export/pve"
  content = ["images"]
  options = "vers=4.2"
}
resource "proxmox_storage_cifs" "share" {
  id       = "share"
  server   = "192.168.4.51"
  share    = "pve"
  username = "pve"
  password = "canary-hunter2"
  content  = ["backup"]
}
resource "proxmox_storage_pbs" "vault" {
  id          = "vault"
  server      = "192.168.4.52"
  datastore   = "main"
  username    = "pve@pbs"
  password    = "canary-hunter2"
  fingerprint = "AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA"
  content     = ["backup"]
}
resource "proxmox_backup_job" "nightly" {
  id             = "nightly"
  schedule       = "02:30"
  storage        = "local"
  vmid           = ["4321"]
  mode           = "snapshot"
  compress       = "zstd"
  enabled        = true
  notes_template = "{{guestname}}"
  prune_backups  = { keep-last = "3", keep-weekly = "2" }
  depends_on     = [proxmox_virtual_environment_vm.web]
}
resource "proxmox_harule" "apart" {
  rule       = "apart"
  type       = "node-affinity"
  resources  = [proxmox_virtual_environment_haresource.web.resource_id]
  nodes      = { "fun-bedbug" = 2 }
  comment    = "at home"
}
resource "proxmox_sdn_zone_simple" "z" {
  id  = "zsimple"
  mtu = 1450
}
resource "proxmox_sdn_zone_vlan" "z" {
  id     = "zvlan"
  bridge = "vmbr0"
}
resource "proxmox_sdn_vnet" "v" {
  id   = "vapps"
  zone = proxmox_sdn_zone_simple.z.id
}
resource "proxmox_sdn_subnet" "s" {
  vnet       = proxmox_sdn_vnet.v.id
  cidr       = "10.5.0.0/24"
  gateway    = "10.5.0.1"
  snat       = true
}
resource "proxmox_sdn_applier" "all" {
  depends_on = [proxmox_sdn_subnet.s, proxmox_sdn_zone_vlan.z]
}
resource "proxmox_realm_ldap" "corp" {
  realm    = "corp"
  server1  = "ldap.example.test"
  base_dn  = "dc=example,dc=test"
  user_attr = "uid"
}
resource "proxmox_realm_openid" "sso" {
  realm      = "sso"
  issuer_url = "https://sso.example.test"
  client_id  = "pve"
  client_key = "canary-hunter2"
}
resource "proxmox_hardware_mapping_pci" "card" {
  name    = "card"
  comment = "a card"
  map = [{ id = "10de:2484", node = "fun-bedbug", path = "0000:01:00.0", iommu_group = 12, subsystem_id = "1458:404c" }]
}
resource "proxmox_node_firewall" "fun" {
  node_name    = "fun-bedbug"
  enabled      = false
  log_level_in = "info"
}
resource "proxmox_node_config" "fun" {
  node_name   = "fun-bedbug"
  description = "in the cellar"
}
