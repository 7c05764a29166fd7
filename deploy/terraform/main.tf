# A gate: what is applied after it needs a revision that may be deployed. README.md says how to use it.
terraform {
  required_version = ">= 1.5"
  required_providers {
    http = {
      source  = "hashicorp/http"
      version = "~> 3.4"
    }
  }
}

variable "purser_server" {
  description = "URL of the Purser server, such as https://purser.example"
  type        = string
}

variable "purser_token" {
  description = "A token of a user who may read the status of revisions; TF_VAR_purser_token keeps it out of files"
  type        = string
  default     = ""
  sensitive   = true
}

variable "revision" {
  description = "The revision to deploy, by its number: latest may already be somebody else's"
  type        = number
}

# The server answers as soon as the status is success, or can no longer become it, and after five minutes at the latest.
data "http" "status" {
  url                = "${trimsuffix(var.purser_server, "/")}/api/v1.0/revisions/${var.revision}/status?wait=5m&expect=success"
  request_timeout_ms = 330000
  request_headers = merge(
    { Accept = "text/plain" },
    var.purser_token == "" ? {} : { X-Auth-Token = var.purser_token },
  )
}

# In place of this, your own resources and modules: each with this precondition, or with
# depends_on = [terraform_data.deployment].
resource "terraform_data" "deployment" {
  input = var.revision

  lifecycle {
    precondition {
      condition     = data.http.status.status_code == 200
      error_message = "Revision ${var.revision} may not be deployed: ${data.http.status.response_body}"
    }
  }
}
