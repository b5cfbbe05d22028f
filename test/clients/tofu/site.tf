resource "proxmox_virtual_environment_download_file" "tpl" {
  content_type = "vztmpl"
  datastore_id = "local"
  node_name    = "fun-bedbug"
  url          = "https://images.test/debian-12.tar.zst"
  file_name    = "debian-12.tar.zst"
}
resource "proxmox_virtual_environment_container" "box" {
  node_name    = "fun-bedbug"
  vm_id        = 4330
  unprivileged = true
  started      = true
  description  = "a container"
  tags         = ["box"]
  initialization {
    hostname = "box"
    ip_config {
      ipv4 { address = "dhcp" }
    }
    user_account { keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJNYlGhBYK0o9dzSOmfFmPfpQrOLDIjBi34zAXGBoyEw ops@test"] }
  }
  memory { dedicated = var.memory }
  cpu { cores = 1 }
  disk {
    datastore_id = "local-zfs"
    size         = 4
  }
  network_interface { name = "eth0" }
  operating_system {
    template_file_id = proxmox_virtual_environment_download_file.tpl.id
    type             = "debian"
  }
}
resource "proxmox_virtual_environment_haresource" "web" {
  resource_id = "vm:${proxmox_virtual_environment_vm.web.vm_id}"
  state       = "started"
  comment     = "kept up"
}
resource "proxmox_virtual_environment_dns" "d" {
  node_name = "fun-bedbug"
  domain    = "example.test"
  servers   = ["192.168.4.1"]
}
resource "proxmox_virtual_environment_time" "t" {
  node_name = "fun-bedbug"
  time_zone = "Europe/Oslo"
}
resource "proxmox_virtual_environment_hosts" "h" {
  node_name = "fun-bedbug"
  entry {
    address   = "127.0.0.1"
    hostnames = ["localhost", "localhost.localdomain"]
  }
  entry {
    address   = "192.168.4.9"
    hostnames = ["nas"]
  }
}
resource "proxmox_virtual_environment_network_linux_bridge" "b" {
  node_name = "fun-bedbug"
  name      = "vmbr77"
  comment   = "spare"
  vlan_aware = true
}
resource "proxmox_virtual_environment_network_linux_vlan" "v" {
  node_name = "fun-bedbug"
  name      = "eno1.55"
  comment   = "vlan"
}
resource "proxmox_virtual_environment_metrics_server" "m" {
  name   = "influx"
  server = "192.168.4.12"
  port   = 8089
  type   = "influxdb"
}
resource "proxmox_virtual_environment_cluster_options" "o" {
  language = "en"
  keyboard = "no"
  max_workers = 5
  next_id = { lower = 3000, upper = 900000 }
}
resource "proxmox_virtual_environment_hardware_mapping_usb" "key" {
  name = "key"
  map = [{ id = "1050:0407", node = "fun-bedbug" }]
}
resource "proxmox_virtual_environment_acl" "team" {
  path     = "/pool/team"
  token_id = proxmox_virtual_environment_user_token.t.id
  role_id  = "PVEVMUser"
  propagate = true
}
