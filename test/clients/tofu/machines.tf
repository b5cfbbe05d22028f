terraform {
  required_providers { proxmox = { source = "bpg/proxmox" } }
}
variable "endpoint" { type = string }
variable "token" { type = string }
variable "memory" { default = 1024 }
provider "proxmox" {
  endpoint  = var.endpoint
  api_token = var.token
  insecure  = true
}
data "proxmox_virtual_environment_nodes" "all" {}
data "proxmox_virtual_environment_datastores" "all" { node_name = "fun-bedbug" }
resource "proxmox_virtual_environment_pool" "team" {
  pool_id = "team"
  comment = "a team"
}
resource "proxmox_virtual_environment_role" "watch" {
  role_id    = "Watch"
  privileges = ["VM.Audit", "Datastore.Audit"]
}
resource "proxmox_virtual_environment_group" "people" {
  group_id = "people"
  comment  = "people"
}
resource "proxmox_virtual_environment_user" "ann" {
  user_id  = "ann@pve"
  comment  = "Ann"
  password = "secret-123"
  groups   = [proxmox_virtual_environment_group.people.group_id]
  acl {
    path      = "/vms"
    propagate = true
    role_id   = proxmox_virtual_environment_role.watch.role_id
  }
}
resource "proxmox_virtual_environment_user_token" "t" {
  user_id    = proxmox_virtual_environment_user.ann.user_id
  token_name = "t1"
  comment    = "a token"
}
resource "proxmox_virtual_environment_firewall_alias" "lan" {
  name = "lan"
  cidr = "192.168.4.0/24"
  comment = "LAN"
}
resource "proxmox_virtual_environment_cluster_firewall_security_group" "web" {
  name = "web"
  comment = "Web"
  rule {
    type   = "in"
    action = "ACCEPT"
    macro  = "HTTPS"
    comment = "https"
  }
  rule {
    type   = "in"
    action = "ACCEPT"
    dport  = "80"
    proto  = "tcp"
    source = "192.168.4.0/24"
  }
}
resource "proxmox_virtual_environment_firewall_ipset" "trusted" {
  name = "trusted"
  cidr {
    name = "192.168.4.7"
    comment = "one"
  }
}
resource "proxmox_virtual_environment_vm" "web" {
  name        = "web"
  description = "made by OpenTofu"
  tags        = ["tofu", "web"]
  node_name   = "fun-bedbug"
  vm_id       = 4321
  pool_id     = proxmox_virtual_environment_pool.team.pool_id
  started     = true
  agent { enabled = true }
  cpu {
    cores = 2
    type  = "x86-64-v2-AES"
  }
  memory { dedicated = var.memory }
  disk {
    datastore_id = "local-zfs"
    import_from  = "local:import/noble-server-cloudimg-amd64.qcow2"
    interface    = "scsi0"
    size         = 10
    discard      = "on"
  }
  initialization {
    datastore_id = "local-zfs"
    ip_config {
      ipv4 { address = "dhcp" }
    }
    user_account {
      username = "ops"
      keys     = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJNYlGhBYK0o9dzSOmfFmPfpQrOLDIjBi34zAXGBoyEw ops@test"]
    }
  }
  network_device { bridge = "vmbr0" }
  operating_system { type = "l26" }
  serial_device {}
}
resource "proxmox_virtual_environment_vm" "copy" {
  name      = "copy"
  node_name = "fun-bedbug"
  vm_id     = 4322
  started   = false
  clone {
    vm_id = proxmox_virtual_environment_vm.template.vm_id
    full  = true
  }
  memory { dedicated = 768 }
}
resource "proxmox_virtual_environment_vm" "template" {
  name      = "golden"
  node_name = "fun-bedbug"
  vm_id     = 4320
  template  = true
  started   = false
  cpu { cores = 1 }
  memory { dedicated = 512 }
  disk {
    datastore_id = "local-zfs"
    interface    = "scsi0"
    size         = 4
    file_format  = "raw"
  }
  network_device { bridge = "vmbr0" }
}
resource "proxmox_virtual_environment_firewall_options" "web" {
  node_name = "fun-bedbug"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id
  enabled   = true
  input_policy = "DROP"
  output_policy = "ACCEPT"
}
resource "proxmox_virtual_environment_firewall_rules" "web" {
  node_name = "fun-bedbug"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id
  rule {
    security_group = proxmox_virtual_environment_cluster_firewall_security_group.web.name
    comment = "from a group"
    iface = "net0"
  }
  rule {
    type   = "in"
    action = "ACCEPT"
    macro  = "SSH"
  }
}
