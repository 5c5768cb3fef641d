"""aws_sign.py - one request signed in the box by botocore and sent with curl, for what the CLI would not do.

aws_sign.py HOST SERVICE REGION ID [TOKEN]: prints the answer and its status. The key is AWS_SECRET_ACCESS_KEY."""
import os
import subprocess
import sys

import botocore.auth
import botocore.awsrequest
import botocore.credentials

host, service, region, ident = sys.argv[1:5]
token = sys.argv[5] if len(sys.argv) > 5 else None
keys = botocore.credentials.Credentials(ident, os.environ["AWS_SECRET_ACCESS_KEY"], token)
request = botocore.awsrequest.AWSRequest("GET", "https://%s/tb/small" % host, headers={"x-amz-content-sha256": "UNSIGNED-PAYLOAD"})
botocore.auth.SigV4Auth(keys, service, region).add_auth(request)
fields = [a for n, v in request.headers.items() for a in ("-H", "%s: %s" % (n, v))]
subprocess.run(["curl", "-sS", "-m", "60", "-w", " %{http_code}", *fields, request.url], check=False)
