# Every resource with a kind that the other files do not have.
variable "files" { type = string }
variable "certificate" { type = string }
variable "key" { type = string }
variable "root_password" { type = string }
# Proxmox registers an ACME account for root@pam by password alone.
provider "proxmox" {
  alias    = "root"
  endpoint = var.endpoint
  username = "root@pam"
  password = var.root_password
  insecure = true
}
resource "proxmox_acme_account" "ca" {
  provider  = proxmox.root
  name      = "ca"
  contact   = "ops@example.test"
  directory = "https://acme-staging-v02.api.letsencrypt.org/directory"
  tos       = "https://letsencrypt.org/documents/LE-SA-v1.5.pdf"
}
resource "proxmox_acme_dns_plugin" "cf" {
  provider         = proxmox.root
  plugin           = "cf"
  api              = "cf"
  data             = { CF_Token = "canary-hunter2" }
  validation_delay = 60
}
resource "proxmox_virtual_environment_acme_dns_plugin" "off" {
  provider = proxmox.root
  plugin   = "off"
  api      = "gandi_livedns"
  disable  = true
}
resource "proxmox_virtual_environment_certificate" "shown" {
  node_name   = "still-fawn"
  certificate = var.certificate
  private_key = var.key
}
resource "proxmox_virtual_environment_cluster_firewall" "all" {
  enabled        = false
  ebtables       = true
  input_policy   = "DROP"
  output_policy  = "ACCEPT"
  forward_policy = "ACCEPT"
  log_ratelimit {
    enabled = true
    burst   = 10
    rate    = "5/second"
  }
}
resource "proxmox_virtual_environment_file" "iso" {
  content_type = "iso"
  datastore_id = "local"
  node_name    = "still-fawn"
  source_file { path = "${var.files}/rescue.iso" }
}
resource "proxmox_network_linux_bond" "b" {
  node_name             = "still-fawn"
  name                  = "bond0"
  slaves                = ["eno2", "eno3"]
  bond_mode             = "802.3ad"
  bond_xmit_hash_policy = "layer2+3"
  comment               = "two cables"
}
resource "proxmox_network_linux_bridge" "b" {
  node_name = "still-fawn"
  name      = "vmbr9"
  address   = "10.9.0.1/24"
  ports     = ["eno4"]
  mtu       = 1500
}
resource "proxmox_network_linux_vlan" "v" {
  node_name = "still-fawn"
  name      = "storage"
  interface = "eno4"
  vlan      = 66
}
resource "proxmox_node_disk_zfs" "tank" {
  node_name   = "still-fawn"
  name        = "tank"
  devices     = ["/dev/sdb", "/dev/sdc"]
  raidlevel   = "mirror"
  ashift      = 12
  compression = "lz4"
  add_storage = true
}
resource "proxmox_replication" "web" {
  id       = "${proxmox_virtual_environment_vm.web.vm_id}-0"
  target   = "still-fawn"
  type     = "local"
  schedule = "*/30"
  rate     = 50
  comment  = "to the other box"
}
resource "proxmox_sdn_controller_evpn" "c" {
  id    = "evpn1"
  asn   = 65000
  peers = ["192.168.4.17"]
}
resource "proxmox_sdn_zone_evpn" "z" {
  id         = "zevpn"
  controller = proxmox_sdn_controller_evpn.c.id
  vrf_vxlan  = 4000
  rt_import  = "65000:65000"
}
resource "proxmox_sdn_zone_qinq" "z" {
  id           = "zqinq"
  bridge       = "vmbr0"
  service_vlan = 100
}
resource "proxmox_sdn_zone_vxlan" "z" {
  id    = "zvxlan"
  peers = ["192.168.4.17", "192.168.4.19"]
  mtu   = 1450
}
resource "proxmox_storage_lvm" "san" {
  id           = "san"
  volume_group = "san"
  content      = ["images"]
  shared       = true
}
resource "proxmox_storage_lvmthin" "thin" {
  id           = "thin"
  volume_group = "pve"
  thin_pool    = "data"
  content      = ["images", "rootdir"]
  nodes        = ["still-fawn"]
}
resource "proxmox_storage_zfspool" "fast" {
  id             = "fast"
  zfs_pool       = "rpool/data"
  content        = ["images"]
  thin_provision = true
  blocksize      = "16k"
}
resource "proxmox_cloned_vm" "twin" {
  node_name = "fun-bedbug"
  id        = 4340
  name      = "twin"
  clone     = { source_vm_id = proxmox_virtual_environment_vm.template.vm_id }
  cpu       = { cores = 2 }
  memory    = { size = 1024 }
  network   = { net0 = { bridge = "vmbr0" } }
  started   = false
}
resource "proxmox_vm" "plain" {
  node_name = "fun-bedbug"
  id        = 4341
  name      = "plain"
  tags      = ["plain"]
  cpu       = { cores = 2, type = "host" }
}
resource "proxmox_pool_membership" "twin" {
  pool_id = proxmox_virtual_environment_pool.team.pool_id
  vm_id   = proxmox_cloned_vm.twin.id
}
